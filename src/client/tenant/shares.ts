/** Links to single sessions of a remote tenant. */

import { fromWireShare, SHARE_PATH, type WireShare } from "../../api/page/share.ts";
import type { CreatedShare, CreateShareInput, Share } from "../../engine/access/shares.ts";
import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import type { Connection } from "../connection.ts";
import { at, known, toBody, toTimes } from "../request.ts";

type Shares = TenantApi["shares"];

export class RemoteShares implements Shares {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async create(sessionId: string, input: CreateShareInput = {}): Promise<CreatedShare> {
    const { expires, ...rest } = known("createShare", input, "share");
    const made = await this.#connection.call<{ readonly token: string; readonly share: WireShare }>(
      {
        method: "POST",
        path: at`/v1/sessions/${sessionId}/shares`,
        body: toBody({ ...rest, ...toTimes({ expires }) }),
      },
    );
    return { token: made.token, share: fromWireShare(made.share) };
  }

  async list(sessionId?: string): Promise<readonly Share[]> {
    const path = sessionId === undefined ? "/v1/shares" : at`/v1/sessions/${sessionId}/shares`;
    const { shares } = await this.#connection.call<{ readonly shares: readonly WireShare[] }>({
      method: "GET",
      path,
    });
    return shares.map(fromWireShare);
  }

  async revoke(id: string): Promise<void> {
    await this.#connection.call({ method: "DELETE", path: at`/v1/shares/${id}` });
  }

  /** The link, by the server's address as seen from here. */
  linkOf(token: string): string {
    return `${this.#connection.address}${SHARE_PATH}${token}`;
  }
}
