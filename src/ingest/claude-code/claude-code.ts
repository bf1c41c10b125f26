/**
 * Transcripts of Claude Code: JSON lines, a tree by `uuid` and `parentUuid`, one line for each block
 * of an answer.
 *
 * A line is an entry, known by its uuid, so that every line of the file can be addressed and a file
 * can be read on from where it ended; the lines of one answer are a chain, and the last has the usage.
 * A sub-agent inside of the file is a branch with a start of its own; one with a file of its own is a
 * session that names its parent.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { batched, splitAhead } from "../batches.ts";
import type { Fields } from "../fields.ts";
import { type JsonRecord, type LineRules, readRecordBatches } from "../jsonl.ts";
import { LineCounter } from "../line-counter.ts";
import { ProblemLog } from "../problems.ts";
import type { Environment, NotePlace, Place, TranscriptSource } from "../source.ts";
import { ClaudeFile } from "./claude-file.ts";
import { RESULT_DIGEST } from "./claude-result.ts";
import {
  type ClaudeHeader,
  FORMAT,
  isHeaderComplete,
  readHeader,
  toSession,
} from "./claude-session.ts";

export const CLAUDE_CODE: TranscriptSource = {
  name: FORMAT,

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
      // Outputs of tools that were too long for the transcript.
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
    const text = new TextDecoder("utf-8").decode(head);
    if (text.trim() === "") return /[/\\]projects[/\\][^/\\]+[/\\].*\.jsonl$/.test(path);
    // Names are not escaped in practice; without this one, the first known line decides.
    const isUnmistakable = !text.includes('"parts"');
    let isJson = false;
    let isOurs = false;
    for (const line of text.split("\n", LOOKED_AT)) {
      const record = tryParse(line);
      if (!isPlainObject(record)) continue;
      if (hasParts(record)) return false;
      isJson = true;
      isOurs ||= isClaudeLine(record);
      if (isOurs && isUnmistakable) break;
    }
    if (isJson) return isOurs;
    // The first line is longer than what we were shown, or damaged.
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
      // While no line has named the session and its folder, they may still come: then all is read again.
      state: () =>
        header?.isNamed && header.cwd !== null && file !== undefined
          ? ({ header, lines: counter.state(), file: file.state() } as unknown as JsonObject)
          : undefined,
    };
  },

  resumeCommand({ id, cwd }) {
    // A sub-agent cannot be gone on with; its parent can.
    const [session = ""] = id.split("/");
    if (!/^[\w.-]+$/.test(session)) return null;
    const command = `claude --resume ${session}`;
    return cwd === null ? command : `cd ${quote(cwd)} && ${command}`;
  },
};

/** A first line that is damaged, or empty, does not hide what the others are. */
const LOOKED_AT = 20;

/** Copies of files, of which a session may have thousands, begin with their type. */
const SNAPSHOT = '{"type":"file-history-snapshot","messageId":';
const SNAPSHOT_RECORD = { type: "file-history-snapshot" };

const RULES: LineRules = {
  digest: RESULT_DIGEST,
  skim: (text) => (text.startsWith(SNAPSHOT) && text.endsWith("}") ? SNAPSHOT_RECORD : undefined),
};

/** Types that no other agent's lines have, each with a field that it comes with. */
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

/** Qwen Code writes lines of much the same form, with `parts` in its messages. */
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

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Damaged: the next line may tell.
    return undefined;
  }
}

/** A word for a shell, whatever is in it. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
