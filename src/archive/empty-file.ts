/**
 * Files with nothing in them yet.
 *
 * An agent makes its file when it starts and writes when something is said. Such a file is a session
 * without messages if its name says which one. Once there is something in it, more is known of the
 * session, such as its project; then the empty one gives way to it.
 */

import { uuidInName } from "../ingest/identity/session-key.ts";
import { ProblemLog } from "../ingest/problems.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../ingest/source.ts";
import { BackscrollError } from "../model/errors.ts";
import type { FileInput, Ingested } from "./file-input.ts";
import { formatState, parseState } from "./file-state.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { outcomeOf } from "./outcome.ts";
import { storeSession } from "./store-session.ts";

export async function ingestEmpty(setting: IngestSetting, input: FileInput): Promise<Ingested> {
  const { file, hint, named } = input.candidate;
  const source = setting.only ?? hint;
  const id = uuidInName(file.path);
  if (source === undefined || id === undefined) return { outcome: outcomeOf(file.path, "empty") };
  const { path, mtimeUs, size } = file;
  // A file that was emptied is still that of its session.
  const { key: before } = parseState(input.known?.state ?? null);
  const empty = emptySession(source, id, mtimeUs);
  const {
    last: _,
    key,
    ...stored
  } = await storeSession(setting, empty, {
    ...{ path, mtimeUs, isRest: false, last: null, index: 0, key: before },
    revive: setting.force && named,
  });
  input.onSession(source.name, stored);
  const { sessionId } = stored;
  return {
    outcome: { ...outcomeOf(path, "read"), source: source.name, sessions: [stored] },
    record: {
      ...{ path, source: source.name, size, mtimeUs, offset: 0, lines: 0, tailHash: null },
      state: sessionId === null ? null : formatState({ empty: sessionId, key }),
      seenAt: Date.now(),
    },
  };
}

/** Takes an empty session away, unless it is one of `kept` or somebody has written into it. */
export async function dropEmpty(
  { tenant, dryRun }: IngestSetting,
  id: string,
  kept: ReadonlySet<string>,
): Promise<void> {
  if (dryRun || kept.size === 0 || kept.has(id)) return;
  try {
    const { entryCount } = await tenant.getSessionMeta(id);
    if (entryCount === 0) await tenant.deleteSession(id);
  } catch (error) {
    // Somebody has deleted it meanwhile.
    if (!BackscrollError.is(error, "session_not_found")) throw error;
  }
}

function emptySession(source: TranscriptSource, id: string, mtimeUs: number): ImportedSession {
  const { name } = source;
  return {
    ...{ source: name, agent: name, id, title: null, cwd: null, gitBranch: null },
    ...{ startedAt: Math.floor(mtimeUs / 1000), parentSession: null, metadata: {} },
    ...{ entries: noEntries(), problems: new ProblemLog() },
  };
}

async function* noEntries(): AsyncGenerator<ImportedEntry> {
  // Nothing was said yet.
}
