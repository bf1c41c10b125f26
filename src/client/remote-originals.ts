/** The bytes of ingested files, at a server. */

import {
  fromBase64,
  fromWireOriginal,
  toWireOriginalUpdate,
  type WireOriginal,
} from "../api/original.ts";
import type { ListOriginalsInput, OriginalsApi } from "../engine/import/originals.ts";
import type { Original, OriginalUpdate } from "../store/ingested-file.ts";
import type { Connection } from "./connection.ts";
import { toBody } from "./request.ts";

export class RemoteOriginals implements OriginalsApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async put(workstation: string, update: OriginalUpdate): Promise<boolean> {
    const { kept } = await this.#connection.call<{ readonly kept: boolean }>({
      // The same parts twice are the same parts.
      ...{ method: "PUT", path: "/v1/ingest/originals", repeatable: true },
      body: JSON.stringify(toWireOriginalUpdate(workstation, update)),
    });
    return kept;
  }

  async list(input: ListOriginalsInput = {}): Promise<readonly Original[]> {
    const { originals } = await this.#connection.call<{
      readonly originals: readonly WireOriginal[];
    }>({
      ...{ method: "POST", path: "/v1/ingest/originals/find", repeatable: true },
      body: toBody(input),
    });
    return originals.map(fromWireOriginal);
  }

  async readPart(
    workstation: string,
    path: string,
    start: number,
  ): Promise<Uint8Array | undefined> {
    const { bytes } = await this.#connection.call<{ readonly bytes: string | null }>({
      ...{ method: "POST", path: "/v1/ingest/originals/read", repeatable: true },
      body: toBody({ workstation, path, start }),
    });
    return bytes === null ? undefined : fromBase64(bytes);
  }
}
