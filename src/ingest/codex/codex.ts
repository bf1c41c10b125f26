/**
 * Transcripts ("rollouts") of Codex CLI: JSON lines, a header and then the items sent to and
 * received from the model, with the window's events between. Old files have only items, and the
 * oldest are one JSON object.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { batched, splitAhead } from "../batches.ts";
import type { Fields } from "../fields.ts";
import { recordsOfHead, textOfHead } from "../head.ts";
import { readRecordBatches } from "../jsonl.ts";
import { LineCounter } from "../line-counter.ts";
import { ProblemLog } from "../problems.ts";
import type { Environment, Place, TranscriptSource } from "../source.ts";
import { isDocumentPath, isRolloutDocument, readRollout, tellDocument } from "./codex-document.ts";
import { skimEvent } from "./codex-events.ts";
import { CodexFile } from "./codex-file.ts";
import {
  type CodexHeader,
  FORMAT,
  isHeaderComplete,
  readHeader,
  toSession,
} from "./codex-session.ts";

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
      const skim = (text: string) => (file?.hasItems ? skimEvent(text) : undefined);
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
    return /^[\w.-]+$/.test(id) ? `codex resume ${id}` : null;
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
