/**
 * Sessions of Kimi CLI: `context.jsonl` in a folder per session, messages in OpenAI's form between
 * markers whose roles begin with an underscore.
 *
 * Lines have no ids and times, and the file is rewritten when the user goes back, keeping the
 * previous one as `context_1.jsonl`. So content and number of occurrences identify a message.
 */

import type { Block } from "../../model/block.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_CALLS } from "../batches.ts";
import {
  ContentIds,
  type EntryDraft,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import {
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  resultBlock,
  textField,
} from "../fields.ts";
import { firstRecord } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, TranscriptSource } from "../source.ts";
import { toBlocks } from "./kimi-blocks.ts";

const FORMAT = "kimi";

/** Markers without content; the system prompt is the same in every session. */
const MARKS: readonly unknown[] = ["_system_prompt", "_checkpoint", "_usage"];

export const KIMI: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      root: folderOf(environment, "KIMI_SHARE_DIR", joinPath(environment.home, ".kimi")),
      matches: (path) => /^sessions\/[^/]+\/[^/]+\/context(_\d+)?\.jsonl$/.test(path),
      skips: (path) => !/^sessions(\/[^/]+){0,2}$/.test(path),
    },
  ],

  recognise: (head) => MARKS.includes(firstRecord(head)?.["role"]),

  read: (input) =>
    toTranscript(async function* (problems) {
      const isNamed = /^context(_\d+)?\.jsonl$/.test(fileName(input.path));
      const name = isNamed ? folderName(input.path) : fileName(input.path).replace(/\.jsonl$/, "");
      const startedAt = (await input.files?.modifiedAt(fileName(input.path))) ?? null;
      const messages = new KimiMessages(problems);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        for await (const { record, line } of readRecords(input.lines, problems)) {
          yield* messages.read(record, line);
        }
      }
      yield {
        ...toImportedSession(FORMAT, { id: name === "" ? null : name }),
        // The mtime is the only known time.
        ...(startedAt === null ? {} : { startedAt: Math.floor(startedAt) }),
        entries: entries(),
        problems,
      };
    }),

  resumeCommand: ({ id }) => commandFor("kimi --session ", id),
};

class KimiMessages {
  readonly #problems: ProblemLog;
  readonly #names = new RecentMap<string, string>(KEPT_CALLS);
  readonly #ids = new ContentIds();

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    const { role } = record;
    if (MARKS.includes(role)) {
      this.#problems.ignore(role as string);
      return;
    }
    const sourceId = this.#ids.next(JSON.stringify(record));
    const draft = this.#draft(record, sourceId);
    if (draft !== undefined) {
      yield toImportedEntry(FORMAT, { id: null, ...draft });
      return;
    }
    const message = `a line of the role ${nameOf(role)} was kept as custom data`;
    this.#problems.add("unexpected", message, line);
    yield toCustomEntry(FORMAT, sourceId, "line", otherFields(record, []), null);
  }

  #draft(record: Fields, sourceId: string): EntryDraft | undefined {
    const { role } = record;
    const blocks = toBlocks(FORMAT, record["content"]);
    const fields = otherFields(record, ["role", "content", "tool_calls", "tool_call_id"]);
    const base = { sourceId, kind: "message" as const, blocks, fields };
    switch (role) {
      case "user":
        return { ...base, role, ...(isInjected(blocks) ? { marks: { injected: true } } : {}) };
      case "assistant": {
        const calls = toCalls(record["tool_calls"]);
        for (const { id, name } of calls) this.#names.set(id, name);
        return { ...base, role, actor: FORMAT, blocks: [...blocks, ...calls] };
      }
      case "tool": {
        const toolUseId = textField(record, "tool_call_id") ?? "";
        const toolName = this.#names.get(toolUseId);
        const output = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
        const result = resultBlock(toolUseId, toolName, output, false);
        return { ...base, role, actor: toolName ?? null, blocks: [result] };
      }
      case "system":
        return { ...base, role, marks: { injected: true } };
      default:
        return undefined;
    }
  }
}

/** True for text of the program in the user's name, such as the number of a checkpoint. */
function isInjected(blocks: readonly Block[]): boolean {
  return (
    blocks.length > 0 &&
    blocks.every(({ type, ...block }) => {
      const text = "text" in block ? block.text : "";
      return type === "text" && /^\s*<system>.*<\/system>\s*$/s.test(text);
    })
  );
}

function toCalls(calls: unknown): Extract<Block, { type: "tool_use" }>[] {
  return objectsIn(calls).map((call) => {
    const called = objectField(call, "function");
    const id = textField(call, "id") ?? "";
    const input = textField(called, "arguments") || "{}";
    return { type: "tool_use", id, name: nameOf(called["name"] ?? ""), input };
  });
}
