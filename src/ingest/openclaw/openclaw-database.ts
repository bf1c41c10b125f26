/**
 * The per-agent database of newer openclaw versions.
 *
 * `transcript_events` has records of pi's format, numbered within their session; `session_windows`
 * and `session_nodes` name a session's peers. Removed and long idle sessions are moved into
 * archives. A later reading queries only changed sessions.
 */

import type { Line } from "../lines.ts";
import { fileName, folderName } from "../machine-paths.ts";
import { readPiFile } from "../pi-format/pi-file.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { databaseText, type ForeignDatabase, withDatabase } from "../sqlite-file.ts";
import { archivedLines } from "./openclaw-archives.ts";
import { SessionMarks } from "./openclaw-changes.ts";
import { describe } from "./openclaw-description.ts";
import { storedLines } from "./openclaw-records.ts";
import {
  agentFolders,
  entriesOf,
  FORMAT,
  titleOf,
  toRoute,
  withGateway,
} from "./openclaw-session.ts";

const FILE = "openclaw-agent.sqlite";

export const OPENCLAW_DATABASE: TranscriptSource = {
  name: `${FORMAT}-database`,
  container: "database",

  places(environment) {
    return agentFolders(environment).map((root) => ({
      root,
      matches: (path) => /^[^/]+\/agent\/openclaw-agent\.sqlite$/.test(path),
      skips: (path) => !/^[^/]+(\/agent)?$/.test(path),
    }));
  },

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    return (
      fileName(path) === FILE || /CREATE TABLE transcript_events ?\([^()]*event_json/.test(text)
    );
  },

  read(input) {
    const problems = new ProblemLog();
    // Until everything is read, the previous state is valid.
    let state = input.resume;
    let isPostponed = true;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      yield* withDatabase(input.path, problems, async function* (database) {
        // Read first: rows written meanwhile are read again.
        const marks = new SessionMarks(database);
        for (const id of marks.changedSince(input.resume)) {
          // Archived lines precede those in the database.
          for (const lines of archivedLines(database, id, input.files, problems)) {
            yield* readSession(database, id, lines, input, problems);
          }
          yield* readSession(database, id, storedLines(database, id, problems), input, problems);
        }
        isPostponed = database.hasFailed;
        if (!database.hasFailed) state = marks.state();
      });
    }
    const end = { state: () => state, isPostponed: () => isPostponed };
    return { sessions: sessions(), problems, ...end };
  },
};

async function* readSession(
  database: ForeignDatabase,
  id: string,
  lines: AsyncIterable<Line>,
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const agent = folderName(input.path, 2) || FORMAT;
  const { key, current, entry, parent } = describe(database, id);
  const transcript = readPiFile({ path: "", lines }, async (session) => ({
    ...session,
    source: FORMAT,
    agent: FORMAT,
    id,
    entries: entriesOf(session, agent),
    title: titleOf(entry),
    parentSession: session.parentSession ?? parent,
    metadata: withGateway(session.metadata, agent, key, entry),
    ...toRoute(current, entry),
  }));
  yield* transcript.sessions;
  problems.take(transcript.problems);
}
