/**
 * Session files of GitHub Copilot CLI: `events.jsonl`, a line per event.
 *
 * Events name their predecessor, but the file is linear: only sub-agents branch, and their messages
 * name the call that started them. They become branches of that call's message.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, objectField, otherFields, textField, timeField } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import { fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { commandFor } from "../resume-command.ts";
import { ResumedLines } from "../resumed-lines.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { CopilotEvents } from "./copilot-events.ts";
import { FORMAT } from "./copilot-message.ts";

export const COPILOT_CLI: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const root = folderOf(environment, "COPILOT_HOME", joinPath(environment.home, ".copilot"));
    const flat = /^[^/]+\.jsonl$/;
    return [
      {
        root: joinPath(root, "session-state"),
        matches: (path) => /^[^/]+\/events\.jsonl$/.test(path) || flat.test(path),
        // Checkpoints and files of the session, not its events.
        skips: (path) => path.split("/").length > 1,
      },
      { root: joinPath(root, "history-session-state"), matches: (path) => flat.test(path) },
    ];
  },

  recognise(head) {
    const first = firstRecord(head);
    if (first !== undefined) return isEvent(first);
    const text = textOfHead(head);
    return /^\s*\{[^\n]{0,200}"type"\s*:\s*"(session\.(start|resume)|user\.message)"/.test(text);
  },

  read(input) {
    const problems = new ProblemLog();
    const events = new CopilotEvents(problems, input.resume);
    let session: JsonObject = isPlainObject(input.resume?.["session"])
      ? (input.resume["session"] as JsonObject)
      : {};
    const lines = new ResumedLines(() => {
      const state = events.state();
      return state === undefined ? undefined : { session, events: state };
    });
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const records = readRecords(lines.read(input.lines), problems);
      const { value: first, done } = await records.next();
      if (done) return;
      if (Object.keys(session).length === 0) {
        if (first.record["type"] !== "session.start") {
          problems.add("missing_header", "the file begins without session.start", first.line);
        }
        session = describe(first.record);
      }
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* events.read(first.record, first.line);
        for await (const { record, line } of records) yield* events.read(record, line);
        yield* events.end();
      }
      const known = toSession(session, input.path);
      const title = known.title ?? (await readTitle(input));
      yield { ...known, title, entries: entries(), leaf: () => events.leaf, problems };
    }
    return { sessions: sessions(), problems, state: () => lines.state() };
  },

  resumeCommand: ({ id }) => commandFor("copilot --resume ", id),
};

/** An event has a dotted name and its data. */
function isEvent(record: Fields): boolean {
  const type = textField(record, "type") ?? "";
  return /^[a-z_]+\.[a-z_.]+$/.test(type) && isPlainObject(record["data"]);
}

/** The session's fields in its first event. */
function describe(record: Fields): JsonObject {
  const isStart = record["type"] === "session.start" || record["type"] === "session.resume";
  const data = isStart ? objectField(record, "data") : {};
  return { known: true, data: data as JsonObject, at: timeField(record, "timestamp") };
}

function toSession(
  described: JsonObject,
  path: string,
): Omit<ImportedSession, "entries" | "problems"> {
  const data = objectField(described, "data");
  const context = objectField(data, "context");
  const name = fileName(path);
  const folder = name === "events.jsonl" ? folderName(path) : name.replace(/\.jsonl$/, "");
  return toImportedSession(FORMAT, {
    id: textField(data, "sessionId") ?? (folder === "" ? null : folder),
    cwd: textField(context, "cwd") || null,
    gitBranch: textField(context, "branch") || null,
    startedAt: timeField(data, "startTime") ?? timeField(described, "at"),
    parentSession: textField(data, "parentSessionId") ?? null,
    fields: otherFields(data, ["sessionId", "startTime"]),
  });
}

/** The session's name, from the user or the agent, in a companion file. */
async function readTitle({ files }: SourceInput): Promise<string | null> {
  const yaml = await files?.readText("workspace.yaml", 64 * 1024);
  const [, name] = /^(?:name|summary):[ \t]*(\S.*)$/m.exec(yaml ?? "") ?? [];
  const bare = name?.trim().replace(/^(["'])(.*)\1$/, "$2") ?? "";
  return bare === "" || /^[|>][+-]?$/.test(bare) ? null : bare;
}
