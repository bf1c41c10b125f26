/**
 * Transcripts of Claude Code: JSON lines, a tree by `uuid` and `parentUuid`, one line per block of
 * an answer.
 *
 * A line is an entry, identified by its uuid, so that every line can be addressed and a file can be
 * resumed; the lines of one answer are a chain, and the last has the usage. A sub-agent inside the
 * file is a branch with its own root; one with its own file is a session that names its parent.
 */

import { shellWord } from "../../model/display.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import { batched, splitAhead } from "../batches.ts";
import { type Fields, setField } from "../fields.ts";
import { recordsOfHead, textOfHead } from "../head.ts";
import { scanFields } from "../json-scan.ts";
import { type FieldDigest, type JsonRecord, type LineRules, readRecordBatches } from "../jsonl.ts";
import { LineCounter } from "../lines.ts";
import { ProblemLog } from "../problems.ts";
import { snapshotType } from "../snapshots.ts";
import type { Environment, NotePlace, Place, TranscriptSource } from "../source.ts";
import { ClaudeFile } from "./claude-file.ts";
import {
  type ClaudeHeader,
  FORMAT,
  isHeaderComplete,
  readHeader,
  toSession,
} from "./claude-session.ts";

/** In characters of the file. */
const MAX_RESULT = 1024;

const RESULT_DIGEST: FieldDigest = {
  name: "toolUseResult",
  maxLength: MAX_RESULT,
  of: digestResult,
};

export const CLAUDE_CODE: TranscriptSource = {
  name: FORMAT,
  // 2: tokens written to caches of an hour.
  version: 2,

  places({ home, variables }: Environment): readonly Place[] {
    const { SESSIONS_DIR: sessions, CLAUDE_CONFIG_DIR: config } = variables;
    const roots = sessions
      ? [sessions]
      : config
        ? [`${config}/projects`]
        : [`${home}/.claude/projects`, `${home}/.config/claude/projects`];
    return roots.map((root) => ({
      root,
      matches: (path) => path.endsWith(".jsonl"),
      matchesPart: (path) => PART.test(path),
      // Tool outputs that were too long for the transcript.
      skips: (path) => /(^|\/)tool-results$/.test(path),
      near: (cwd) => [cwd.replace(/[^a-zA-Z0-9]/g, "-")],
    }));
  },

  notes(environment): readonly NotePlace[] {
    return (this.places?.(environment) ?? []).map(({ root }) => ({
      root,
      matches: (path) => /^[^/]+\/memory\/(?:[^/]+\/)*[^/]+\.md$/.test(path),
      skips: (path) => !/^[^/]+(\/memory(\/.*)?)?$/.test(path),
      projectOf: (path) => path.split("/")[0] ?? "",
    }));
  },

  recognise(head, path) {
    const text = textOfHead(head);
    if (text.trim() === "") {
      return /[/\\]projects[/\\][^/\\]+[/\\]/.test(path) && path.endsWith(".jsonl");
    }
    // Field names are unescaped in practice; without this one, the first known line decides.
    const isUnmistakable = !text.includes('"parts"');
    let isJson = false;
    let isOurs = false;
    for (const record of recordsOfHead(head)) {
      if (hasParts(record)) return false;
      isJson = true;
      isOurs ||= isClaudeLine(record);
      if (isOurs && isUnmistakable) break;
    }
    if (isJson) return isOurs;
    // The first line exceeds the head, or is damaged.
    return /^\s*\{\s*"(?:parentUuid|isSidechain|logicalParentUuid)"\s*:/.test(text);
  },

  read(input) {
    const problems = new ProblemLog();
    let header: ClaudeHeader | undefined;
    let file: ClaudeFile | undefined;
    const { resume } = input;
    const counter = new LineCounter(resume?.["lines"]);
    async function* sessions() {
      let length = 0;
      const isEnough = (read: readonly JsonRecord[]) => {
        length += read.at(-1)?.length ?? 0;
        return resume !== undefined || isHeaderComplete(read, length);
      };
      const records = readRecordBatches(input.lines, problems, RULES);
      const { ahead, rest } = await splitAhead(records, isEnough);
      header =
        resume === undefined
          ? await readHeader(ahead, input)
          : (resume["header"] as unknown as ClaudeHeader);
      const known = resume?.["file"] as JsonObject | undefined;
      file = new ClaudeFile(header, problems, counter, input, known);
      const entries = batched(file.read(ahead, rest));
      yield { ...toSession(header), entries, leaf: () => file?.leaf, problems };
    }
    return {
      sessions: sessions(),
      problems,
      // Until a line has named the session and its folder, the file is read from its start again.
      state: () => {
        const state = header?.isNamed && header.cwd !== null ? file?.state() : undefined;
        if (state === undefined) return undefined;
        return { header, lines: counter.state(), file: state } as unknown as JsonObject;
      },
    };
  },

  resumeCommand({ id, cwd, platform }) {
    // A sub-agent cannot be resumed; its parent can.
    const [session = ""] = id.split("/");
    if (!/^\w[\w.-]*$/.test(session)) return null;
    const command = `claude --resume ${session}`;
    return cwd === null ? command : `cd ${shellWord(cwd, platform)} && ${command}`;
  },
};

/** Outputs of tools, and what a sub-agent was started for. */
const PART = /(?:^|\/)(?:tool-results\/(?!\.)[\w.-]+\.(?:txt|json)|agent-[^/]+\.meta\.json)$/;

const RULES: LineRules = {
  digest: RESULT_DIGEST,
  skim: (text) => {
    const type = snapshotType(text);
    return type !== undefined && text.endsWith("}") ? { type } : undefined;
  },
};

/** Types that only Claude Code writes, each with a field that it has. */
const TYPES: Readonly<Record<string, string>> = {
  summary: "leafUuid",
  "file-history-snapshot": "messageId",
  "queue-operation": "operation",
  progress: "parentUuid",
  attachment: "attachment",
  system: "parentUuid",
  "ai-title": "aiTitle",
  "custom-title": "customTitle",
  "last-prompt": "lastPrompt",
};

/** Qwen Code writes similar lines, with `parts` in its messages. */
function hasParts({ message }: Fields): boolean {
  return isPlainObject(message) && Array.isArray(message["parts"]);
}

function isClaudeLine(record: Fields): boolean {
  const { type, message } = record;
  if (type === "user" || type === "assistant") {
    return isPlainObject(message) && message["content"] !== undefined;
  }
  if (typeof type !== "string") return false;
  if (Object.hasOwn(TYPES, type)) return record[TYPES[type] ?? ""] !== undefined;
  return typeof record["sessionId"] === "string" && record["payload"] === undefined;
}

// The kept fields of `toolUseResult`.
//
// A line with a tool's result has it twice: as the model saw it, and in this field as the program
// stores it, with whole files and diffs. The second is half of some transcripts. Of a long one only
// the short fields and the names of the others are kept; the rest is not parsed.

const MAX_RESULT_FIELD = MAX_RESULT / 4;

/** The path of an external output, within the length of a path. */
const PATH_FIELD = "persistedOutputPath";
const MAX_PATH = 4096;

function digestResult(text: string): JsonValue {
  if (!text.trimStart().startsWith("{")) return { omitted: true };
  const kept: Record<string, unknown> = {};
  const omitted: string[] = [];
  for (const { name, start, end } of scanFields(text)) {
    if (end - start > (name === PATH_FIELD ? MAX_PATH : MAX_RESULT_FIELD)) omitted.push(name);
    else setField(kept, name, parseExact(text.slice(start, end)));
  }
  return { ...kept, omitted } as JsonValue;
}
