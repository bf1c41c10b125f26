/**
 * Transcripts ("rollouts") of Codex CLI: JSON lines, a header and then the items sent to and
 * received from the model, with the window's events between. Old files have only items, and the
 * oldest are one JSON object.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { batched, splitAhead } from "../batches.ts";
import { readDocument } from "../document/json-document.ts";
import { lookAhead } from "../document/list-scanner.ts";
import type { Fields } from "../fields.ts";
import { recordsOfHead, textOfHead } from "../head.ts";
import { scanObject } from "../json-scan.ts";
import { type JsonRecord, readRecordBatches } from "../jsonl.ts";
import { type Line, LineCounter } from "../lines.ts";
import { ProblemLog } from "../problems.ts";
import { snapshotType } from "../snapshots.ts";
import type { Environment, Place, SourceInput, TranscriptSource } from "../source.ts";
import {
  CodexFile,
  type CodexHeader,
  FORMAT,
  isHeaderComplete,
  readHeader,
  toSession,
} from "./codex-file.ts";
import { skimEvent } from "./codex-items.ts";

const DAY_MS = 24 * 3_600_000;

function dayFolder(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}/${two(date.getMonth() + 1)}/${two(date.getDate())}`;
}

export const CODEX: TranscriptSource = {
  name: FORMAT,

  places({ home, variables }: Environment): readonly Place[] {
    const root = variables["CODEX_HOME"] || `${home}/.codex`;
    return ["sessions", "archived_sessions"].map((folder) => ({
      root: `${root}/${folder}`,
      matches: (path) => /(^|\/)rollout-[^/]*\.(?:json|jsonl|jsonl\.zst)$/.test(path),
      // A folder per day, by the local time of the session's start.
      near: (_cwd, now) => [now, now - DAY_MS].map(dayFolder),
    }));
  },

  recognise(head, path) {
    const text = textOfHead(head);
    if (text.trim() === "") return /(^|[/\\])rollout-[^/\\]*\.jsonl(\.zst)?$/.test(path);
    if (isRolloutDocument(text, path)) return true;
    for (const record of recordsOfHead(head)) return isCodexLine(record);
    // The header holds the agent's instructions, so it may exceed the head.
    return /^\s*\{\s*"timestamp"\s*:\s*"[^"]*"\s*,[^{}]*"type"\s*:\s*"session_meta"/.test(text);
  },

  isText: isDocumentPath,

  read(input) {
    const problems = new ProblemLog();
    let header: CodexHeader | undefined;
    let file: CodexFile | undefined;
    let isDocument = false;
    const { resume, path } = input;
    const counter = new LineCounter(resume?.["lines"]);
    async function* sessions() {
      const skim = (text: string) => {
        const type = text.endsWith("}") ? snapshotType(text) : undefined;
        if (type !== undefined) return { type, payload: {} };
        return file?.hasItems ? skimEvent(text) : undefined;
      };
      // Only line files are resumable: an object is read as a whole each time.
      const told = resume === undefined ? await tellDocument(input) : { isDocument: false, input };
      isDocument = told.isDocument;
      const records = isDocument
        ? readRollout(told.input, problems)
        : readRecordBatches(told.input.lines, problems, { skim });
      const { ahead, rest } = await splitAhead(
        records,
        (read) => resume !== undefined || isHeaderComplete(read),
      );
      if (resume !== undefined) header = resume["header"] as unknown as CodexHeader;
      else {
        header = readHeader(ahead, path);
        const [first] = ahead;
        if (first !== undefined && !header.isThere) {
          problems.add("missing_header", "the file begins without session_meta", first.line);
        }
      }
      file = new CodexFile(header, problems, counter, resume?.["file"] as JsonObject | undefined);
      yield { ...toSession(header), entries: batched(file.read(ahead, rest)), problems };
    }
    return {
      sessions: sessions(),
      problems,
      // Without a header the id is the file's name, and a header may still come.
      state: () =>
        header?.isThere && file !== undefined && !isDocument
          ? ({ header, lines: counter.state(), file: file.state() } as unknown as JsonObject)
          : undefined,
    };
  },

  resumeCommand({ id }) {
    return /^\w[\w.-]*$/.test(id) ? `codex resume ${id}` : null;
  },
};

const TYPES: readonly unknown[] = [
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
];

function isCodexLine(record: Fields): boolean {
  const { type, payload } = record;
  if (TYPES.includes(type) && isPlainObject(payload)) return true;
  if (type !== undefined) return false;
  if (record["record_type"] === "state") return true;
  // The bare header of old files.
  const isDated = typeof record["id"] === "string" && typeof record["timestamp"] === "string";
  return isDated && (record["instructions"] !== undefined || record["git"] !== undefined);
}

/**
 * The oldest rollouts of Codex CLI: one JSON object with the session and its items, rewritten with
 * each answer. Its parts are yielded like the lines of later files.
 */
function isDocumentPath(path: string): boolean {
  return /\.json(\.(gz|zst))?$/i.test(path);
}

/** How it begins, as Codex writes it. */
const SESSION = /^\s*\{\s*"session"\s*:\s*\{/;

/** Whether a file that begins with `text` is one: its session comes first. */
function isRolloutDocument(text: string, path: string): boolean {
  if (!SESSION.test(text)) return false;
  // The session holds the agent's instructions, so the items may begin after the head.
  return /"items"\s*:\s*\[/.test(text) || /(^|[/\\])rollout-[^/\\]*$/.test(path);
}

/** The kind of a file, whatever its name; read the returned `input`. */
async function tellDocument(
  input: SourceInput,
): Promise<{ readonly isDocument: boolean; readonly input: SourceInput }> {
  const ahead = await lookAhead(input, (read) => begins(read).length >= 2);
  return { isDocument: isDocument(begins(ahead.lines), input.path), input: ahead.input };
}

/** The non-empty texts. */
function begins(lines: readonly Line[]): string[] {
  return lines.map(({ text }) => text).filter((text) => text.trim() !== "");
}

function isDocument(texts: readonly string[], path: string): boolean {
  if (SESSION.test(texts.join("\n"))) return true;
  const [first = ""] = texts;
  const has = (name: string) => scanObject(first, name)?.value !== undefined;
  // A first line that is not an object may be part of one, or damaged: then the name decides.
  return scanObject(first) === undefined ? isDocumentPath(path) : has("session") && has("items");
}

/** Yields the session as the first record, then its items. Each rewrite replaces the document. */
async function* readRollout(input: SourceInput, problems: ProblemLog): AsyncGenerator<JsonRecord> {
  const document = await readDocument(input, "items", problems);
  if (document === undefined) return;
  const { session, items } = isPlainObject(document.frame) ? document.frame : {};
  if (!isPlainObject(session) || !Array.isArray(items)) {
    problems.add("unexpected", "the file is JSON, but not a rollout");
    return;
  }
  let line = 1;
  yield { line, length: 0, record: session };
  for await (const item of document.elements(problems)) {
    line++;
    if (isPlainObject(item)) yield { line, length: 0, record: item };
    else if (item !== undefined) problems.add("unexpected", "an item is not an object", line);
  }
}
