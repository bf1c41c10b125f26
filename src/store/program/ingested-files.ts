/** Ingested files: their read positions, and their original bytes in compressed parts. */

import type { IngestedFile, Original, OriginalQuery, OriginalUpdate } from "../ingested-file.ts";
import { packText } from "../payload-codec.ts";
import type { Row } from "../records.ts";
import { sessionNotFound } from "../store-errors.ts";
import type { Call, Program, ProgramPort } from "./port.ts";
import { DROP_ORIGINALS, type INGESTED_FILES_SQL, toIngestedFile, toOriginal } from "./tables.ts";

type Port = ProgramPort<
  | keyof typeof INGESTED_FILES_SQL
  | "find"
  | "findFacts"
  | "putFiles"
  | "lockSessions"
  | "list"
  | "listOfSession"
>;

export function* findIngestedFiles(
  port: Port,
  workstation: string,
  paths: readonly string[],
  withState = true,
): Program<IngestedFile[]> {
  const rows = yield* port.rows(withState ? "find" : "findFacts", workstation, paths);
  return rows.map(toIngestedFile);
}

export function* putIngestedFiles(
  port: Port,
  workstation: string,
  files: readonly IngestedFile[],
  now: number,
): Program<void> {
  yield* port.ensureTenant(now);
  // One row per path: a statement cannot change the same row twice.
  const last = [...new Map(files.map((file) => [file.path, file])).values()];
  const rows = last
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, source, size, mtimeUs, offset, lines, tailHash, state, seenAt }) => {
      const bytes = state === null ? null : packText(state);
      return [path, source, size, mtimeUs, offset, lines, tailHash, bytes, seenAt];
    });
  port.runEach("putFiles", [workstation], rows);
}

export function* putOriginal(
  port: Port,
  workstation: string,
  update: OriginalUpdate,
  now: number,
): Program<boolean> {
  yield* port.ensureTenant(now);
  const { path, source, reader, size, mtimeUs, from, parts, sessionIds } = update;
  const found = yield* port.rows("lockSessions", sessionIds);
  const missing = sessionIds.find((id) => !found.some((row) => row["id"] === id));
  if (missing !== undefined) throw sessionNotFound(missing);
  const sessions = found.map((row) => Number(row["session"]));
  const isErased = (row: Row) => row["retention"] !== "full" || row["has_removed"] === 1;
  if (found.some(isErased)) {
    for (const session of sessions) {
      for (const statement of DROP_ORIGINALS) port.run(statement, session);
    }
    return false;
  }
  port.run("put", workstation, path, source, reader, size, mtimeUs);
  port.run("dropParts", workstation, path, from);
  for (const part of parts) {
    port.run("putPart", workstation, path, part.start, part.size, part.bytes);
  }
  for (const session of sessions) port.run("putSession", session, workstation, path);
  return true;
}

export function* listOriginals(
  port: Port,
  { workstation, path, sessionId, after, limit }: OriginalQuery,
): Program<Original[]> {
  const from = [after?.workstation ?? null, after?.path ?? null];
  const page = [workstation ?? null, path ?? null, ...from, limit];
  const rows =
    sessionId === undefined
      ? yield* port.rows("list", ...page)
      : yield* port.rows("listOfSession", yield* port.sessionNumber(sessionId), ...page);
  if (rows.length === 0) return [];
  const calls = rows.flatMap((row): readonly Call<"parts" | "sessions">[] => {
    const file = [String(row["workstation"]), String(row["path"])];
    return [
      ["parts", ...file],
      ["sessions", ...file],
    ];
  });
  const answers = yield* port.together(...calls);
  return rows.map((row, i) => toOriginal(row, answers[2 * i] ?? [], answers[2 * i + 1] ?? []));
}

export function* readOriginalPart(
  port: Port,
  workstation: string,
  path: string,
  start: number,
): Program<Uint8Array | undefined> {
  const [row] = yield* port.rows("part", workstation, path, start);
  return row?.["bytes"] as Uint8Array | undefined;
}
