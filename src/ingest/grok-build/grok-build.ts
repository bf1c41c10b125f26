/**
 * Sessions of Grok Build, xAI's agent: a folder per session below one for each working folder, in it
 * a log of updates in the Agent Client Protocol and a summary with title, folder and branch.
 *
 * An answer is several updates: thoughts, text, calls. It is complete with the first result of a
 * tool or the end of the turn, and becomes one message. The turn's end has the tokens of the whole
 * turn: they are on its last answer.
 */

import { isPlainObject } from "../../model/json.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, objectField, presentFields, textField, timeField } from "../fields.ts";
import { recordsOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { KnownSession, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  FileAccess,
  ImportedEntry,
  ImportedSession,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { FORMAT, GrokUpdates } from "./grok-updates.ts";

/** An answer without writes for this long is complete or abandoned. */
const QUIET_MS = 10 * 60 * 1000;

const MAX_SUMMARY_BYTES = 1024 * 1024;
const MAX_CHECKPOINT_BYTES = 16 * 1024 * 1024;

export const GROK_BUILD: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      root: joinPath(
        folderOf(environment, "GROK_HOME", joinPath(environment.home, ".grok")),
        "sessions",
      ),
      matches: (path) => /^[^/]+\/[^/]+\/updates\.jsonl$/.test(path),
      matchesPart: (path) =>
        /^[^/]+\/[^/]+\/(summary|compaction_checkpoints\/\w[\w.-]*)\.json$/.test(path),
      skips: (path) => !/^[^/]+(\/[^/]+)?$/.test(path),
    },
  ],

  recognise(head) {
    for (const record of recordsOfHead(head)) {
      if (!/^(_x\.ai\/)?session\/update$/.test(textField(record, "method") ?? "")) continue;
      const params = objectField(record, "params");
      return "sessionId" in params && "sessionUpdate" in objectField(params, "update");
    }
    return false;
  },

  read(input) {
    const problems = new ProblemLog();
    let isPostponed = false;
    let wasOpen = false;
    const updates = new GrokUpdates(problems, input.resume, (name) => readCheckpoint(input, name));
    const known = new KnownSession(input.resume, updates);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const records = readRecords(known.lines.read(input.lines), problems);
      const { value: first, done } = await records.next();
      if (done) return;
      if (known.isNew) {
        const { sessionId } = objectField(first.record, "params");
        known.fields = { id: typeof sessionId === "string" ? sessionId : stemOf(input.path) };
      }
      const summary = await readObject(input.files, "summary.json", MAX_SUMMARY_BYTES);
      const session = await describe(summary, input.files, textField(known.fields, "id"));
      updates.isSubagent = isSubagent(summary);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* updates.read(first);
        for await (const record of records) yield* updates.read(record);
        wasOpen = updates.isOpen;
        isPostponed = wasOpen && !(await hasRested(input));
        if (!isPostponed) yield* updates.flush();
      }
      yield { ...session, entries: entries(), leaf: () => updates.tip, problems };
    }
    return {
      sessions: sessions(),
      problems,
      // What ended without its end may go on.
      state: () => (wasOpen ? undefined : known.lines.state()),
      isPostponed: () => isPostponed,
      isLost: () => updates.isLost,
    };
  },

  resumeCommand: ({ id }) => commandFor("grok --resume ", id),
};

function stemOf(path: string): string | null {
  const name = fileName(path);
  return (name === "updates.jsonl" ? folderName(path) : name.replace(/\.jsonl$/, "")) || null;
}

async function hasRested({ files, path }: SourceInput): Promise<boolean> {
  const written = await files?.modifiedAt(fileName(path));
  return written === undefined || Date.now() - written > QUIET_MS;
}

function isSubagent(summary: Fields): boolean {
  return summary["session_kind"] === "subagent";
}

async function describe(
  summary: Fields,
  files: FileAccess | undefined,
  known: string | undefined,
): Promise<ReturnType<typeof toImportedSession>> {
  const text = (name: string) => textField(summary, name) || null;
  const info = objectField(summary, "info");
  const id = known ?? textField(info, "id") ?? null;
  const caller = isSubagent(summary) && id !== null ? await callerOf(files, id) : null;
  return toImportedSession(FORMAT, {
    id,
    title: text("generated_title") ?? text("session_summary"),
    cwd: textField(info, "cwd") ?? null,
    gitBranch: text("head_branch"),
    startedAt: timeField(summary, "created_at"),
    parentSession: caller ?? text("parent_session_id"),
    fields: presentFields({
      agent: textField(summary, "agent_name"),
      kind: textField(summary, "session_kind"),
    }),
  });
}

/** The session beside this one that has it among its sub-agents. */
async function callerOf(files: FileAccess | undefined, id: string): Promise<string | null> {
  for (const name of (await files?.list("..")) ?? []) {
    if (((await files?.list(`../${name}/subagents`)) ?? []).includes(id)) return name;
  }
  return null;
}

/** The summary in a checkpoint of a compaction; undefined if there is none. */
async function readCheckpoint({ files }: SourceInput, name: string): Promise<string | undefined> {
  const { compacted_history } = await readObject(files, name, MAX_CHECKPOINT_BYTES);
  for (const item of Array.isArray(compacted_history) ? compacted_history : []) {
    const content: unknown = isPlainObject(item) ? item["content"] : undefined;
    for (const part of Array.isArray(content) ? content : []) {
      const text = isPlainObject(part) ? (textField(part, "text") ?? "") : "";
      if (text.startsWith("This session is being continued")) {
        const at = text.indexOf("Summary:\n");
        return at < 0 ? text : text.slice(at + "Summary:\n".length).trim();
      }
    }
  }
  return undefined;
}

async function readObject(
  files: FileAccess | undefined,
  name: string,
  maxBytes: number,
): Promise<Fields> {
  const text = await files?.readText(name, maxBytes);
  const value = text === undefined ? undefined : parseJson(text);
  return isPlainObject(value) ? value : {};
}
