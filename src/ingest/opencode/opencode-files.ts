/**
 * Messages of a session in opencode's older tree of files: a file per message, and one per part.
 */

import { textField } from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { FileAccess } from "../source.ts";
import type { OpencodeMessage } from "./opencode-message.ts";
import { MessageParts } from "./opencode-parts.ts";

export async function* readMessageFiles(
  files: FileAccess | undefined,
  sessionId: string,
  problems: ProblemLog,
): AsyncGenerator<OpencodeMessage> {
  if (files === undefined || !isName(sessionId)) return;
  // The session lies in storage/session/<project>.
  for (const name of await jsonNames(files, `../../message/${sessionId}`)) {
    const path = `../../message/${sessionId}/${name}`;
    const message = new MessageParts(problems);
    const data = await readObject(files, path, message, problems);
    if (data === undefined) continue;
    const id = textField(data, "id") ?? name.replace(/\.json$/, "");
    const written = [path];
    const parts = [];
    for (const part of isName(id) ? await jsonNames(files, `../../part/${id}`) : []) {
      const place = `../../part/${id}/${part}`;
      const read = await readObject(files, place, message, problems);
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
  message: MessageParts,
  problems: ProblemLog,
): Promise<Record<string, unknown> | undefined> {
  const name = path.replace(/^[./]+/, "");
  const read = await files.readRecord(path);
  const value = read === undefined ? undefined : message.parse(read.text, name);
  if (value === undefined) problems.add("not_json", `${name} is not a JSON object, or too large`);
  else if (read?.isCut)
    problems.add("line_cut", `${name} is longer than 1 MB; long values were cut`);
  return value;
}

/** An id is used as a folder name, so it must be a plain one. */
function isName(id: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(id);
}
