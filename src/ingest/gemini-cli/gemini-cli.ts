/**
 * Chats of Gemini CLI: one JSON object, or its successor, JSON lines.
 *
 * The lines are a log of changes. A changed message is written again, the user can rewind to an
 * earlier one, and all messages can be replaced. A message is yielded once another follows it, or
 * at the end; later additions become a message after it. A rewind makes a branch.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { lookAhead } from "../document/look-ahead.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, otherFields, textField, timeField } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import { fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
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
import { GeminiChat } from "./gemini-chat.ts";
import { FORMAT } from "./gemini-message.ts";

export const GEMINI_CLI: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const home = folderOf(environment, "GEMINI_CLI_HOME", environment.home);
    return [
      {
        root: joinPath(home, ".gemini/tmp"),
        // Sub-agents lie one folder deeper, under the id of the chat that started them.
        matches: (path) => /^[^/]+\/chats\/(session-[^/]+\.jsonl?|[^/]+\/[^/]+\.jsonl)$/.test(path),
        skips: (path) => /^[^/]+\/(?!chats(\/|$))/.test(path),
      },
    ];
  },

  recognise(head) {
    const first = firstRecord(head);
    if (first !== undefined) return isHeader(first);
    const text = textOfHead(head);
    return (
      /^\s*\{\s*"sessionId"\s*:/.test(text) &&
      /"(projectHash|startTime)"\s*:/.test(text.slice(0, 2000))
    );
  },

  isText: (path) => path.endsWith(".json"),

  read(input) {
    const problems = new ProblemLog();
    // Only files of lines have a resume state: an object is read whole.
    if (input.resume !== undefined) return readLog(input, problems);
    let log: ImportedTranscript | undefined;
    const noteLog = (read: ImportedTranscript) => {
      log = read;
    };
    const canResume = /\.jsonl$/.test(input.path);
    return {
      sessions: readEither(input, problems, noteLog),
      problems,
      state: () => (canResume ? log?.state?.() : undefined),
    };
  },

  resumeCommand: ({ id }) => commandFor("gemini --resume ", id),
};

function isHeader(record: Fields): boolean {
  return (
    typeof record["sessionId"] === "string" &&
    (typeof record["projectHash"] === "string" || "startTime" in record) &&
    !("type" in record)
  );
}

function readLog(input: SourceInput, problems: ProblemLog): ReturnType<TranscriptSource["read"]> {
  const kept = input.resume?.["session"];
  let header: Fields = isPlainObject(kept) ? kept : {};
  const chat = new GeminiChat(problems, input.resume);
  const lines = new ResumedLines(() => {
    const state = chat.state();
    return state === undefined ? undefined : { session: header as JsonObject, chat: state };
  });
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const records = readRecords(lines.read(input.lines), problems);
    const { value: first, done } = await records.next();
    if (done) return;
    const isFirst = Object.keys(header).length === 0;
    if (isFirst) {
      if (!isHeader(first.record)) {
        problems.add(
          "missing_header",
          "the file begins without a line for the session",
          first.line,
        );
      }
      const described = isHeader(first.record) ? otherFields(first.record, ["messages"]) : {};
      header = { ...described, isKnown: true };
    }
    async function* entries(): AsyncGenerator<ImportedEntry> {
      if (first !== undefined) yield* chat.read(first.record, first.line);
      for await (const { record, line } of records) yield* chat.read(record, line);
      yield* chat.end();
    }
    const session = await toSession(header, input);
    yield { ...session, entries: entries(), leaf: () => chat.leaf, problems };
  }
  return { sessions: sessions(), problems, state: () => lines.state() };
}

/** Lines if the first is complete, else one object, whatever the file's name. */
async function* readEither(
  input: SourceInput,
  problems: ProblemLog,
  onLog: (log: ImportedTranscript) => void,
): AsyncGenerator<ImportedSession> {
  const ahead = await lookAhead(input, (read) => (read.at(-1)?.text.trim() ?? "") !== "");
  const first = firstRecord(Buffer.from(ahead.lines.at(-1)?.text ?? ""));
  if (first !== undefined && !Array.isArray(first["messages"])) {
    const log = readLog(ahead.input, problems);
    onLog(log);
    yield* log.sessions;
    return;
  }
  const document = await readDocument(ahead.input, "messages", problems);
  if (document === undefined) return;
  const { frame } = document;
  if (!isPlainObject(frame) || !Array.isArray(frame["messages"])) {
    problems.add("unexpected", "the file is JSON, but not a chat with messages");
    return;
  }
  const chat = new GeminiChat(problems, undefined);
  const messages = document.elements(problems);
  async function* entries(fields: Fields): AsyncGenerator<ImportedEntry> {
    yield* chat.read(fields);
    // Without an id it is skipped as a whole.
    const isChat = textField(fields, "sessionId") !== undefined;
    for await (const message of isChat ? messages : []) {
      if (message !== undefined) yield* chat.replay(message);
    }
    yield* chat.end();
  }
  const session = await toSession(frame, input);
  yield { ...session, entries: entries(frame), leaf: () => chat.leaf, problems };
}

async function toSession(
  header: Fields,
  input: SourceInput,
): Promise<Omit<ImportedSession, "entries" | "problems">> {
  const { path } = input;
  const directories = Array.isArray(header["directories"]) ? header["directories"] : [];
  const [directory] = directories.filter((name) => typeof name === "string");
  const stem = fileName(path).replace(/\.jsonl?$/, "");
  const isBelow = header["kind"] === "subagent" && folderName(path) !== "chats";
  const parent = isBelow && folderName(path, 2) === "chats" ? folderName(path) : null;
  const id = textField(header, "sessionId") ?? (stem === "" ? null : stem);
  return toImportedSession(FORMAT, {
    id: parent === null ? id : `${parent}/agent-${id}`,
    parentSession: parent,
    title: textField(header, "summary") || null,
    cwd: (await readRoot(input, parent === null ? ".." : "../..")) ?? directory ?? null,
    startedAt: timeField(header, "startTime"),
    fields: otherFields(header, ["sessionId", "messages", "startTime", "isKnown"]),
  });
}

/** Newer versions write the project's folder beside its chats; the hash cannot be reversed. */
async function readRoot({ files }: SourceInput, above: string): Promise<string | undefined> {
  const root = await files?.readText(`${above}/.project_root`, 4096);
  return root?.trim() || undefined;
}
