/**
 * Conversations of Cursor: transcripts of its agent (JSON lines, earlier plain text), and the database
 * of the editor.
 */

import { isPlainObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, nameOf, objectField, otherFields } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import { KEPT_CALLS } from "../kept-counts.ts";
import { applicationFolder, fileName, folderName, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { commandFor } from "../resume-command.ts";
import { ResumedLines } from "../resumed-lines.ts";
import type {
  ImportedEntry,
  ImportedSession,
  ImportedTranscript,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { databaseText, withDatabase } from "../sqlite-file.ts";
import { type ComposersEnd, readComposers } from "./cursor-composers.ts";
import { FORMAT, unwrapQuery } from "./cursor-query.ts";
import { readText } from "./cursor-text.ts";

export const CURSOR: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    return [
      {
        root: joinPath(environment.home, ".cursor/projects"),
        matches: (path) => /^[^/]+\/agent-transcripts\/.+\.(jsonl|txt)$/.test(path),
        skips: (path) => /^[^/]+\/(?!agent-transcripts(\/|$))/.test(path),
      },
    ];
  },

  recognise(head, path) {
    const first = firstRecord(head);
    if (first !== undefined) return isMessage(first);
    const text = textOfHead(head);
    if (/^\s*\{"role":"(user|assistant)","message":\{"content":/.test(text)) return true;
    const isText = /^\s*(user|assistant):[ \t]*\r?\n/.test(text);
    return isText && (path.endsWith(".txt") || /<user_query>|^\[Tool call\] /m.test(text));
  },

  isText: (path) => path.endsWith(".txt"),

  read(input) {
    const problems = new ProblemLog();
    return fileName(input.path).endsWith(".txt")
      ? { sessions: readText(input.lines, describe(input), problems), problems }
      : readLines(input, problems);
  },

  resumeCommand: ({ id }) => commandFor("cursor-agent --resume=", id),
};

/** The editor's database: its panel's conversations. */
export const CURSOR_EDITOR: TranscriptSource = {
  name: `${FORMAT}-editor`,
  container: "database",

  places(environment) {
    const user = joinPath(applicationFolder(environment), "Cursor/User");
    const matches = (path: string) =>
      /^(globalStorage|workspaceStorage\/[^/]+)\/state\.vscdb$/.test(path);
    const skips = (path: string) => !/^(globalStorage|workspaceStorage(\/[^/]+)?)$/.test(path);
    return [{ root: user, matches, skips }];
  },

  recognise(head) {
    return databaseText(head)?.includes("cursorDiskKV") === true;
  },

  read(input) {
    const problems = new ProblemLog();
    let end: ComposersEnd = { state: input.resume, isPostponed: true };
    const sessions = withDatabase(input.path, problems, async function* (database) {
      end = yield* readComposers(database, input.resume, problems);
    });
    const asked = { state: () => end.state, isPostponed: () => end.isPostponed };
    return { sessions, problems, ...asked };
  },
};

function isMessage(record: Fields): boolean {
  const { role, message } = record;
  return (
    (role === "user" || role === "assistant") &&
    isPlainObject(message) &&
    (Array.isArray(message["content"]) || typeof message["content"] === "string")
  );
}

/** The session's fields from its path: file name and project folder. */
function describe({ path }: SourceInput): Omit<ImportedSession, "entries" | "problems"> {
  const id = fileName(path).replace(/\.(jsonl|txt)$/, "");
  const parent = folderName(path) === "subagents" ? folderName(path, 2) : null;
  const names = path.split(/[/\\]/);
  const project = names[names.indexOf("agent-transcripts") - 1];
  const own = id === "" ? null : id;
  return toImportedSession(FORMAT, {
    id: parent === null ? own : `${parent}/agent-${own}`,
    parentSession: parent,
    fields: project === undefined ? {} : { project },
  });
}

function readLines(input: SourceInput, problems: ProblemLog): ImportedTranscript {
  const names = new RecentMap<string, string>(KEPT_CALLS);
  const kept = input.resume?.["names"];
  for (const pair of Array.isArray(kept) ? (kept as unknown[]) : []) {
    if (Array.isArray(pair)) names.set(nameOf(pair[0]), nameOf(pair[1]));
  }
  const lines = new ResumedLines(() => ({
    names: [...names].slice(-100) as unknown as JsonValue,
  }));
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const records = readRecords(lines.read(input.lines), problems);
    const { value: first, done } = await records.next();
    if (done) return;
    async function* entries(): AsyncGenerator<ImportedEntry> {
      if (first !== undefined) yield* toEntries(first.record, first.line, names, problems);
      for await (const { record, line } of records) yield* toEntries(record, line, names, problems);
    }
    yield { ...describe(input), entries: entries(), problems };
  }
  return { sessions: sessions(), problems, state: () => lines.state() };
}

function* toEntries(
  record: Fields,
  line: number,
  names: RecentMap<string, string>,
  problems: ProblemLog,
): Generator<ImportedEntry> {
  const sourceId = `line-${line}`;
  const message = objectField(record, "message");
  const content = toContentBlocks(message["content"], FORMAT);
  if (!isMessage(record) || content === undefined) {
    const what = JSON.stringify(record["type"] ?? record["role"] ?? null);
    problems.add("unexpected", `a line of ${what} was kept as custom data`, line);
    const data = { type: `${FORMAT}:line`, data: otherFields(record, []) };
    yield toImportedEntry(FORMAT, { sourceId, id: null, kind: "custom", data });
    return;
  }
  const isUser = record["role"] === "user";
  const { blocks, context } = isUser ? unwrapQuery(content) : { blocks: content, context: "" };
  const numbered = blocks.map((block, i) =>
    block.type === "tool_use" && block.id === "" ? { ...block, id: `${sourceId}-${i}` } : block,
  );
  const rest = otherFields(record, ["role", "message"]);
  const inner = otherFields(message, ["content", "role"]);
  const drafts = toMessageDrafts(
    {
      sourceId,
      id: null,
      kind: "message",
      role: isUser ? "user" : "assistant",
      actor: isUser ? null : FORMAT,
      blocks: numbered,
      fields: {
        ...rest,
        ...(Object.keys(inner).length === 0 ? {} : { message: inner }),
        ...(context === "" ? {} : { context }),
      },
    },
    names,
  );
  for (const draft of drafts) yield toImportedEntry(FORMAT, draft);
}
