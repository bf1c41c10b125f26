/** Read offsets of ingested files. */

import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_PATH_BYTES } from "../../model/limits.ts";
import type { IngestedFile } from "../../store/ingested-file.ts";
import { checkInput, checkKey, checkList } from "../check.ts";
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
