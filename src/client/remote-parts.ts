/**
 * Parts of a remote tenant: links to single sessions, session keys, and read positions of files and
 * their bytes.
 */

import { toWireOriginalUpdate } from "../api/original.ts";
import { ROUTE_CALLS, SHARE_CALLS, SHARE_PATH } from "../api/part-operations.ts";
import { fromWire, toWire, type WireOf } from "../api/shape.ts";
import type { CreatedShare, CreateShareInput, Share } from "../engine/access/shares.ts";
import type { ListOriginalsInput, OriginalsApi } from "../engine/import/ingested-files.ts";
import type { RoutesApi, TenantApi } from "../engine/interfaces.ts";
import type { PutRouteInput } from "../engine/routes/routes.ts";
import { INGESTED_FILE, ORIGINAL, SHARE } from "../model/answers/store.ts";
import { fromBase64 } from "../model/base64.ts";
import { BackscrollError } from "../model/errors.ts";
import { SESSION_ROUTE, type SessionRoute } from "../model/route.ts";
import type { IngestedFile, Original, OriginalUpdate } from "../store/ingested-file.ts";
import type { Connection } from "./connection.ts";
import { type CallsOf, callsOf } from "./plain-calls.ts";
import { at, known, toBody, toTimes, toWireNew } from "./request.ts";

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

const PlainRoutes: CallsOf<RoutesApi, typeof ROUTE_CALLS> = callsOf<RoutesApi, typeof ROUTE_CALLS>(
  ROUTE_CALLS,
);

export class RemoteRoutes extends PlainRoutes implements RoutesApi {
  async find(key: string): Promise<SessionRoute | undefined> {
    try {
      return await this.get(key);
    } catch (error) {
      if (BackscrollError.is(error, "session_key_not_found")) return undefined;
      throw error;
    }
  }

  async put(key: string, input: PutRouteInput): Promise<SessionRoute> {
    const { create, ...rest } = known("routes.put", input, "route");
    const route = await this.connection.call({
      method: "PUT",
      path: at`/v1/routes/${key}`,
      body: toBody({
        ...rest,
        ...(create === undefined ? {} : { create: toWireNew(create, "create") }),
      }),
    });
    return fromWire(SESSION_ROUTE, route);
  }
}

export async function putIngestedFiles(
  connection: Connection,
  workstation: string,
  files: readonly IngestedFile[],
): Promise<void> {
  await connection.call({
    // Idempotent.
    method: "PUT",
    path: "/v1/ingest/files",
    repeatable: true,
    body: toBody({ workstation, files: toWire([INGESTED_FILE], files) }),
  });
}

export class RemoteOriginals implements OriginalsApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async put(workstation: string, update: OriginalUpdate): Promise<boolean> {
    const { kept } = await this.#connection.call<{ readonly kept: boolean }>({
      // Idempotent.
      method: "PUT",
      path: "/v1/ingest/originals",
      repeatable: true,
      body: JSON.stringify(toWireOriginalUpdate(workstation, update)),
    });
    return kept;
  }

  async list({ after, ...input }: ListOriginalsInput = {}): Promise<readonly Original[]> {
    // The caller may pass a whole original: send its key only.
    const key = after && { workstation: after.workstation, path: after.path };
    const { originals } = await this.#connection.call<{
      readonly originals: readonly WireOf<typeof ORIGINAL>[];
    }>({
      method: "POST",
      path: "/v1/ingest/originals/find",
      repeatable: true,
      body: toBody({ ...input, after: key }),
    });
    return originals.map((each) => fromWire(ORIGINAL, each));
  }

  async readPart(
    workstation: string,
    path: string,
    start: number,
  ): Promise<Uint8Array | undefined> {
    const { bytes } = await this.#connection.call<{ readonly bytes: string | null }>({
      method: "POST",
      path: "/v1/ingest/originals/read",
      repeatable: true,
      body: toBody({ workstation, path, start }),
    });
    return bytes === null ? undefined : fromBase64(bytes);
  }
}
