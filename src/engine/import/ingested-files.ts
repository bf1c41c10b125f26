/** Ingested files: how far they were read, and their bytes, which the archive interprets. */

import { BackscrollError } from "../../model/errors.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_BATCH_BYTES, MAX_PATH_BYTES } from "../../model/limits.ts";
import type {
  IngestedFile,
  Original,
  OriginalQuery,
  OriginalUpdate,
} from "../../store/ingested-file.ts";
import { checkInput, checkKey, checkLimit, checkList } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";

export async function findIngestedFiles(
  { store, tenant }: EngineContext,
  workstation: string,
  paths: readonly string[],
  options: { readonly withState?: boolean },
): Promise<readonly IngestedFile[]> {
  const { withState = true } = checkInput(options, "options", INPUTS.findIngestedFiles);
  const known = checkList(paths, "paths").map((path) => checkKey(path, "path"));
  return store.findIngestedFiles(tenant, checkKey(workstation, "workstation"), known, withState);
}

export async function putIngestedFiles(
  { store, tenant, now }: EngineContext,
  workstation: string,
  files: readonly IngestedFile[],
): Promise<void> {
  for (const file of checkList(files, "files")) {
    const { path } = checkInput(file, "file", INPUTS.putIngestedFiles);
    checkName(path, "path", MAX_PATH_BYTES);
  }
  checkName(workstation, "workstation");
  await store.putIngestedFiles(tenant, workstation, files, now());
}

export type ListOriginalsInput = Partial<OriginalQuery>;

export class Originals {
  readonly #engine: EngineContext;

  constructor(engine: EngineContext) {
    this.#engine = engine;
  }

  /** False if a session of the file has a retention that erases content. */
  async put(workstation: string, update: OriginalUpdate): Promise<boolean> {
    checkName(workstation, "workstation");
    checkName(update.path, "path", MAX_PATH_BYTES);
    const bytes = update.parts.reduce((sum, part) => sum + part.bytes.length, 0);
    if (bytes > MAX_BATCH_BYTES) {
      throw new BackscrollError(
        "too_large",
        `parts holds ${bytes} bytes; at most ${MAX_BATCH_BYTES} are stored at once: store the parts one by one`,
        { details: { field: "parts", limit: MAX_BATCH_BYTES, unit: "bytes" } },
      );
    }
    const { store, tenant, now } = this.#engine;
    return store.putOriginal(tenant, workstation, update, now());
  }

  /** By workstation and path. Throws `session_not_found` for an unknown session. */
  async list(input: ListOriginalsInput = {}): Promise<readonly Original[]> {
    const { limit, ...query } = checkInput(input, "options", INPUTS["originals.list"]);
    const { store, tenant } = this.#engine;
    return store.listOriginals(tenant, { ...query, limit: checkLimit(limit) });
  }

  /** The zstd frame of the part that starts there. */
  async readPart(
    workstation: string,
    path: string,
    start: number,
  ): Promise<Uint8Array | undefined> {
    const { store, tenant } = this.#engine;
    const key = [checkKey(workstation, "workstation"), checkKey(path, "path")] as const;
    return store.readOriginalPart(tenant, ...key, start);
  }
}

/** The calls of originals, local or remote. */
export type OriginalsApi = Pick<Originals, keyof Originals>;
