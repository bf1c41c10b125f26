/**
 * Sessions of Continue, of its extensions and its command line: one JSON object each, and a list of
 * all with their start times.
 *
 * Messages have no ids and times: number and content make an id. A session reset to an earlier
 * message has other messages under the same numbers, which are a branch.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { type JsonDocument, readDocument } from "../document/json-document.ts";
import {
  type EntryDraft,
  KnownIds,
  toContentBlocks,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  resultBlock,
  textField,
  thinkingBlock,
  timeField,
  toPromptUsage,
} from "../fields.ts";
import { textOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { commandFor, fileName, folderOf, joinPath, pathOfUri } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { FileAccess, ImportedEntry, TranscriptSource } from "../source.ts";

const FORMAT = "continue";

const LIST = "sessions.json";
const MAX_LIST_BYTES = 8 * 1024 * 1024;

export const CONTINUE: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(
      environment,
      "CONTINUE_GLOBAL_DIR",
      joinPath(environment.home, ".continue"),
    );
    const isList = (path: string) => path === LIST;
    const matches = (path: string) => /^[^/]+\.json$/.test(path) && !isList(path);
    return [{ root: joinPath(own, "sessions"), matches, matchesPart: isList, skips: () => true }];
  },

  recognise(head) {
    const text = textOfHead(head);
    if (!/^\s*\{/.test(text) || !/"history"\s*:\s*\[/.test(text)) return false;
    if (/"workspaceDirectory"\s*:/.test(text)) return true;
    return /"message"\s*:\s*\{/.test(text) && /"(contextItems|editorState)"\s*:/.test(text);
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      const document = await readDocument(input, "history", problems);
      if (document === undefined) return;
      const { frame } = document;
      if (!isPlainObject(frame) || !Array.isArray(frame["history"])) {
        problems.add("unexpected", "the file is JSON, but not a session with a history");
        return;
      }
      const stem = fileName(input.path).replace(/\.json$/, "");
      const id = textField(frame, "sessionId") ?? (stem === "" ? null : stem);
      const cwd = textField(frame, "workspaceDirectory") || null;
      yield {
        ...toImportedSession(FORMAT, {
          id,
          title: textField(frame, "title") || null,
          // Editors write a URL, the command line a path.
          cwd: cwd === null ? null : (pathOfUri(cwd) ?? cwd),
          startedAt: await startOf(input.files, id, fileName(input.path)),
          fields: otherFields(frame, ["sessionId", "title", "workspaceDirectory", "history"]),
        }),
        entries: readItems(document, problems),
        problems,
      };
    }),

  resumeCommand: ({ id }) => commandFor("cn --fork ", id),
};

async function* readItems(
  document: JsonDocument,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const ids = new KnownIds(problems);
  const answered = new Set<string>();
  let parent: string | null = null;
  let number = -1;
  for await (const item of document.elements(problems)) {
    number++;
    if (item === undefined) continue;
    const drafts = isPlainObject(item) ? toDrafts(item, idOf(item, number), answered) : undefined;
    if (drafts === undefined) {
      problems.add("unexpected", `item ${number + 1} has no known role, and was left out`);
      continue;
    }
    for (const draft of drafts) {
      if (!ids.isNew(draft.sourceId, draft)) continue;
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: parent });
      parent = draft.sourceId;
    }
  }
}

function idOf(item: Fields, number: number): string {
  const message = objectField(item, "message");
  const said = [message["role"], message["content"], message["toolCalls"]];
  const hash = toHex(sha256(Buffer.from(JSON.stringify(said) ?? ""))).slice(0, 8);
  return `message-${number}-${hash}`;
}

/** The session's start from the list beside it, else the file's mtime. */
async function startOf(
  files: FileAccess | undefined,
  id: string | null,
  name: string,
): Promise<number | null> {
  const list = parseJson((await files?.readText(LIST, MAX_LIST_BYTES)) ?? "[]");
  const own = objectsIn(list).find((each) => each["sessionId"] === id);
  const text = textField(own ?? {}, "dateCreated") ?? "";
  const at = timeField({ at: /^\d+$/.test(text) ? Number(text) : text }, "at");
  const written = at ?? (await files?.modifiedAt(name));
  return written === undefined ? null : Math.floor(written);
}

/** Undefined if it is not a message. `answered` holds the calls with a result, and is updated. */
function toDrafts(item: Fields, sourceId: string, answered: Set<string>): EntryDraft[] | undefined {
  const message = objectField(item, "message");
  const { role } = message;
  const content = toBlocks(message["content"]);
  const base = { sourceId, id: null, kind: "message" as const };
  const summary = textField(item, "conversationSummary");
  const compaction: EntryDraft[] =
    summary === undefined || summary === "" ? [] : [toCompaction(summary, sourceId)];
  const fields = otherFields(item, KNOWN);
  switch (role) {
    case "user":
      return [{ ...base, role, blocks: content, fields }, ...compaction];
    case "system":
      return [{ ...base, role, blocks: content, marks: { injected: true } }, ...compaction];
    case "thinking": {
      const text = textOf(message["content"]);
      const signature = textField(message, "signature");
      const thought = thinkingBlock(text, signature);
      return [{ ...base, role: "assistant", actor: FORMAT, blocks: [thought] }, ...compaction];
    }
    case "assistant": {
      const answer = { ...base, role, actor: FORMAT, fields };
      const drafts = [{ ...answer, ...toAnswer(item, message, content) }];
      return [...drafts, ...toResults(item, sourceId, answered), ...compaction];
    }
    case "tool": {
      const toolUseId = textField(message, "toolCallId") ?? "";
      // Newer versions write the result beside its call as well.
      if (answered.has(toolUseId)) return compaction;
      const output = textOf(message["content"]);
      const block: Block = { type: "tool_result", toolUseId, output, isError: false };
      return [{ ...base, role, blocks: [block], fields }, ...compaction];
    }
    default:
      return undefined;
  }
}

/** Fields shown by the editor, sent in full, or mapped to a field of ours. */
const KNOWN = [
  "message",
  "editorState",
  "promptLogs",
  "toolCallStates",
  "toolCallState",
  "reasoning",
  "conversationSummary",
];

function toCompaction(summary: string, sourceId: string): EntryDraft {
  const data = { firstKeptEntryId: null, tokensBefore: null };
  const blocks: Block[] = [{ type: "text", text: summary }];
  return { sourceId: `${sourceId}/summary`, id: null, kind: "compaction", blocks, data };
}

function toAnswer(item: Fields, message: Fields, content: readonly Block[]): Partial<EntryDraft> {
  const reasoning = objectField(item, "reasoning");
  const thought = textField(reasoning, "text") ?? "";
  const thinking: Block[] = thought === "" ? [] : [{ type: "thinking", text: thought }];
  const usage = objectField(message, "usage");
  const cents = usage["cost_cents"];
  const logs = objectsIn(item["promptLogs"]);
  return {
    blocks: [...thinking, ...content, ...objectsIn(message["toolCalls"]).map(toCall)],
    usage: toUsage(usage),
    model: textField(usage, "model") ?? textField(logs[0] ?? {}, "modelTitle") ?? null,
    createdAt: timeField(reasoning, "startAt"),
    ...(typeof cents === "number" && cents > 0 ? { cost: cents / 100 } : {}),
  };
}

function toCall(call: Fields): Block {
  const called = objectField(call, "function");
  const { arguments: input } = called;
  return {
    type: "tool_use",
    id: textField(call, "id") ?? "",
    name: nameOf(called["name"] ?? ""),
    input: typeof input === "string" ? input : (JSON.stringify(input ?? {}) ?? "{}"),
  };
}

/** Statuses of a call without output. */
const FAILED: readonly unknown[] = ["errored", "canceled", "rejected"];

function toResults(item: Fields, sourceId: string, answered: Set<string>): EntryDraft[] {
  const states = objectsIn(item["toolCallStates"] ?? [item["toolCallState"]]);
  return states.flatMap((state) => {
    const toolUseId = textField(state, "toolCallId") ?? "";
    const isError = FAILED.includes(state["status"]);
    const { output } = state;
    if ((!Array.isArray(output) && !isError) || answered.has(toolUseId)) return [];
    answered.add(toolUseId);
    const call = objectField(state, "toolCall");
    const called = objectField(call, "function");
    const toolName = textField(called, "name");
    const texts = objectsIn(output).map((part) => textField(part, "content") ?? "");
    const block = resultBlock(toolUseId, toolName, texts.join("\n"), isError);
    return [
      {
        sourceId: `${sourceId}/${toolUseId}`,
        id: toolUseId,
        kind: "message",
        role: "tool",
        actor: toolName ?? null,
        blocks: [block],
      } satisfies EntryDraft,
    ];
  });
}

/** In OpenAI's form, or the program's own, where cached tokens are input. */
function toUsage(usage: Fields): Usage | null {
  const input = countField(usage, "prompt_tokens") ?? countField(usage, "promptTokens");
  const output = countField(usage, "completion_tokens") ?? countField(usage, "completionTokens");
  if (input === undefined && output === undefined) return null;
  const own = usage["prompt_tokens_details"] ?? usage["promptTokensDetails"];
  const details: Fields = isPlainObject(own) ? own : {};
  const count = (...names: string[]) =>
    names.map((name) => countField(details, name)).find((value) => value !== undefined) ?? 0;
  const read = count("cached_tokens", "cache_read_tokens", "cachedTokens");
  const written = count("cache_write_tokens", "cacheWriteTokens");
  return toPromptUsage(input ?? 0, output ?? 0, read, written);
}

function toBlocks(content: unknown): Block[] {
  return toContentBlocks(FORMAT, content, (part) => {
    const url = textField(objectField(part, "imageUrl"), "url");
    return url === undefined ? undefined : { type: "image", url };
  });
}

function textOf(content: unknown): string {
  const texts = toBlocks(content).map((block) => (block.type === "text" ? block.text : ""));
  return texts.join("");
}
