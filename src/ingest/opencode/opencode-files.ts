/** Messages of a session in opencode's older tree of files, one file each, and one for each part. */

import { isPlainObject } from "../../model/json.ts";
import { textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { ProblemLog } from "../problems.ts";
import type { FileAccess } from "../source.ts";
import type { OpencodeMessage } from "./opencode-session.ts";

/** No message or part is larger: what a tool gives is cut before that. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export async function* readMessageFiles(
  files: FileAccess | undefined,
  sessionId: string,
  problems: ProblemLog,
): AsyncGenerator<OpencodeMessage> {
  if (files === undefined || !isName(sessionId)) return;
  // The session lies in storage/session/<project>.
  for (const name of await jsonNames(files, `../../message/${sessionId}`)) {
    const path = `../../message/${sessionId}/${name}`;
    const data = await readObject(files, path, problems);
    if (data === undefined) continue;
    const id = textField(data, "id") ?? name.replace(/\.json$/, "");
    const written = [path];
    const parts = [];
    for (const part of isName(id) ? await jsonNames(files, `../../part/${id}`) : []) {
      const place = `../../part/${id}/${part}`;
      const read = await readObject(files, place, problems);
      if (read !== undefined) parts.push({ ...read, id: part.replace(/\.json$/, "") });
      written.push(place);
    }
    yield { id, data, parts, updatedAt: await newestOf(files, written) };
  }
}

async function newestOf(files: FileAccess, paths: readonly string[]): Promise<number> {
  const times = await Promise.all(paths.map((path) => files.modifiedAt(path)));
  return times.reduce<number>((newest, time) => Math.max(newest, time ?? 0), 0);
}

async function jsonNames(files: FileAccess, folder: string): Promise<readonly string[]> {
  return (await files.list(folder)).filter((name) => name.endsWith(".json"));
}

async function readObject(
  files: FileAccess,
  path: string,
  problems: ProblemLog,
): Promise<Record<string, unknown> | undefined> {
  const text = await files.readText(path, MAX_FILE_BYTES);
  const value = text === undefined ? undefined : parseJson(text);
  if (isPlainObject(value)) return value;
  problems.add("not_json", `${path.replace(/^[./]+/, "")} is no JSON object, or too large`);
  return undefined;
}

/** An id is used as a name of a folder: nothing else may be in it. */
function isName(id: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(id);
}
