/** Ingests a transcript from a pipe: without a path, and not resumable. */

import { limitLines } from "../ingest/files/oversize.ts";
import { toPlain } from "../ingest/files/unpack.ts";
import { ProblemLog } from "../ingest/problems.ts";
import { readTranscript } from "../ingest/read-transcript.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import type { FileOutcome, SessionOutcome } from "./outcome.ts";
import { storeSession } from "./store-session.ts";

/** Throws `unknown_format`, and `invalid_input` for a session without an id. */
export async function ingestStream(
  setting: IngestSetting,
  bytes: AsyncIterable<Uint8Array>,
): Promise<FileOutcome> {
  const problems = new ProblemLog();
  let length = 0;
  const counted = (async function* () {
    for await (const chunk of bytes) {
      length += chunk.length;
      yield chunk;
    }
  })();
  const transcript = await readTranscript({
    bytes: toPlain(counted, problems),
    ...(setting.only === undefined ? {} : { source: setting.only.name }),
    prepare: (lines) => limitLines(lines, setting.oversize, problems),
  });
  const sessions: SessionOutcome[] = [];
  for await (const session of transcript.sessions) {
    const {
      last: _,
      key: __,
      ignored,
      ...stored
    } = await storeSession(setting, session, {
      path: "",
      mtimeUs: Date.now() * 1000,
      isRest: false,
      last: null,
      index: 0,
      revive: setting.force,
    });
    sessions.push(ignored === undefined ? stored : { ...stored, ignoredBy: ignored.rule });
  }
  const problemCounts = new Map<string, number>([
    ...transcript.problems.counts,
    ...problems.counts,
  ]);
  return {
    path: "-",
    how: "read",
    source: transcript.source,
    bytes: length,
    sessions,
    problems: [...transcript.problems.first, ...problems.first],
    problemCounts,
    ignoredCounts: transcript.problems.ignored,
  };
}
