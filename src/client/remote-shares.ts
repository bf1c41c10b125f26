/** Links to single sessions of a remote tenant. */

import { SHARE_CALLS } from "../api/operations.ts";
import { SHARE_PATH } from "../api/page/share.ts";
import { fromWire, type WireOf } from "../api/shape.ts";
import type { CreatedShare, CreateShareInput, Share } from "../engine/access/shares.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { SHARE } from "../model/answers/store.ts";
import { type CallsOf, callsOf } from "./plain-calls.ts";
import { at, known, toBody, toTimes } from "./request.ts";

type Shares = TenantApi["shares"];

const PlainShares: CallsOf<Shares, typeof SHARE_CALLS> = callsOf<Shares, typeof SHARE_CALLS>(
  SHARE_CALLS,
);

export class RemoteShares extends PlainShares implements Shares {
  async create(sessionId: string, input: CreateShareInput = {}): Promise<CreatedShare> {
    const { expires, ...rest } = known("createShare", input, "share");
    const made = await this.connection.call<{
      readonly token: string;
      readonly share: WireOf<typeof SHARE>;
    }>({
      method: "POST",
      path: at`/v1/sessions/${sessionId}/shares`,
      body: toBody({ ...rest, ...toTimes({ expires }) }),
    });
    return { token: made.token, share: fromWire(SHARE, made.share) };
  }

  async list(sessionId?: string): Promise<readonly Share[]> {
    const path = sessionId === undefined ? "/v1/shares" : at`/v1/sessions/${sessionId}/shares`;
    const { shares } = await this.connection.call<{
      readonly shares: readonly WireOf<typeof SHARE>[];
    }>({
      method: "GET",
      path,
    });
    return shares.map((each) => fromWire(SHARE, each));
  }

  /** The link, by the server's address as seen from here. */
  linkOf(token: string): string {
    return `${this.connection.address}${SHARE_PATH}${token}`;
  }
}
