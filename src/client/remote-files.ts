/** Read positions of files, and their bytes, at a server. */

import { fromBase64, toWireOriginalUpdate } from "../api/original.ts";
import { fromWire, toWire, type WireOf } from "../api/shape.ts";
import type { ListOriginalsInput, OriginalsApi } from "../engine/import/ingested-files.ts";
import { INGESTED_FILE, ORIGINAL } from "../model/answers/store.ts";
import type { IngestedFile, Original, OriginalUpdate } from "../store/ingested-file.ts";
import type { Connection } from "./connection.ts";
import { toBody } from "./request.ts";

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
