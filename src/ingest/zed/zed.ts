/**
 * Threads of Zed's agent: a database with a row for each, whose document is JSON, mostly compressed.
 *
 * A thread is written anew with each message, never in the middle of one. The user's messages have
 * ids, the agent's are counted from the one before. A thread reset to an earlier message has another
 * one after it: a branch.
 */

import { zstdDecompressSync } from "node:zlib";
import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { type JsonDocument, readDocument } from "../document/json-document.ts";
import { type EntryDraft, KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
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
} from "../fields.ts";
import { splitLines } from "../lines.ts";
import { fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { Environment, ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";
import { boundedColumn, databaseText, type Row, withDatabase } from "../sqlite-file.ts";

const FORMAT = "zed";

/** A document that unpacks to more is a trap. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

export const ZED: TranscriptSource = {
  name: FORMAT,
  container: "database",

  places: (environment) => [
    {
      root: joinPath(dataFolder(environment), "threads"),
      matches: (path) => path === "threads.db",
      skips: () => true,
    },
  ],

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    if (/^threads\.db$/.test(fileName(path)) && /[/\\]zed[/\\]/i.test(path)) return true;
    return /CREATE TABLE [`"]?threads[`"]? ?\(/.test(text) && /\bdata_type TEXT/.test(text);
  },

  read(input) {
    const problems = new ProblemLog();
    let state = input.resume;
    const since = textField(input.resume ?? {}, "since") ?? "";
    async function* sessions(): AsyncGenerator<ImportedSession> {
      yield* withDatabase(input.path, problems, async function* (database) {
        if (!database.has("threads", "data_type")) return;
        let newest = since;
        const more = ["parent_id", "folder_paths", "created_at"].filter((name) =>
          database.has("threads", name),
        );
        const columns = ["id", "summary", "updated_at", "data_type", ...more].join(", ");
        // Times are texts of one form. Threads of the newest one are read again.
        const sql = `SELECT ${columns}, ${boundedColumn("data")} FROM threads
          WHERE updated_at >= ? ORDER BY updated_at, id`;
        for (const row of database.rows(sql, since)) {
          const written = textField(row, "updated_at") ?? "";
          if (written > newest) newest = written;
          const thread = await readThread(row, problems);
          if (thread !== undefined) yield thread;
        }
        if (!database.hasFailed) state = { since: newest };
      });
    }
    return { sessions: sessions(), problems, state: () => state };
  },
};

function dataFolder(environment: Environment): string {
  const { home, platform } = environment;
  if (platform === "darwin") return joinPath(home, "Library/Application Support/Zed");
  if (platform === "win32") {
    return joinPath(folderOf(environment, "LOCALAPPDATA", joinPath(home, "AppData/Local")), "Zed");
  }
  const data = folderOf(environment, "XDG_DATA_HOME", joinPath(home, ".local/share"));
  return joinPath(folderOf(environment, "FLATPAK_XDG_DATA_HOME", data), "zed");
}

async function readThread(row: Row, problems: ProblemLog): Promise<ImportedSession | undefined> {
  const id = textField(row, "id") ?? "";
  const bytes = unpack(row);
  if (bytes === undefined) {
    problems.add("unreadable", `the thread ${id} cannot be unpacked, or is too long`);
    return undefined;
  }
  const input = { lines: splitLines([bytes]), bytes: [bytes], isRepeatable: true };
  const document = await readDocument(input, "messages", problems);
  const frame = document?.frame;
  if (document === undefined || !isPlainObject(frame) || !Array.isArray(frame["messages"])) {
    problems.add("unexpected", `the thread ${id} has no messages`);
    return undefined;
  }
  const [folder] = (textField(row, "folder_paths") ?? "").split("\n");
  const context = objectField(frame, "subagent_context");
  const session = toImportedSession(FORMAT, {
    id,
    title: textField(row, "summary") || textField(frame, "title") || null,
    cwd: folder || worktreeOf(frame),
    parentSession: textField(row, "parent_id") || textField(context, "parent_thread_id") || null,
    startedAt: timeField(row, "created_at"),
    fields: otherFields(frame, LEFT_OUT),
  });
  return { ...session, entries: readMessages(document, frame, problems), problems };
}

/** Fields with a place of their own, and the state of the editor. */
const LEFT_OUT: readonly string[] = [
  "title",
  "summary",
  "messages",
  "updated_at",
  "initial_project_snapshot",
  "draft_prompt",
  "ui_scroll_position",
  "sandbox_grants",
  "sandboxed_terminal_temp_dir",
  "subagent_context",
  "request_token_usage",
];

function unpack(row: Row): Uint8Array | undefined {
  const { data } = row;
  if (typeof data === "string") return Buffer.from(data);
  if (!(data instanceof Uint8Array)) return undefined;
  if (row["data_type"] !== "zstd") return data;
  try {
    return zstdDecompressSync(data, { maxOutputLength: MAX_DOCUMENT_BYTES });
  } catch {
    // Damaged, or too long: the caller reports it.
    return undefined;
  }
}

/** Older threads have no column for their folders. */
function worktreeOf(frame: Fields): string | null {
  const snapshot = objectField(frame, "initial_project_snapshot");
  const [tree] = objectsIn(snapshot["worktree_snapshots"]);
  return textField(tree ?? {}, "worktree_path") ?? null;
}

async function* readMessages(
  document: JsonDocument,
  frame: Fields,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const ids = new KnownIds(problems);
  const model = textField(objectField(frame, "model"), "model") ?? null;
  const used = objectField(frame, "request_token_usage");
  let parent: string | null = null;
  let prompt = "start";
  let count = 0;
  // The newest answer and what follows it.
  let held: EntryDraft[] = [];
  async function* give(drafts: readonly EntryDraft[]): AsyncGenerator<ImportedEntry> {
    for (const draft of drafts) {
      if (!ids.isNew(draft.sourceId, draft)) continue;
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: parent });
      if (draft.kind !== "custom") parent = draft.sourceId;
    }
  }
  for await (const message of document.elements(problems)) {
    if (message === "Resume") {
      problems.ignore("Resume");
      continue;
    }
    const { role, id, content, results, fields } = toMessage(message);
    if (role === "user") {
      // Zed keeps the tokens of the last request after each of the user's messages.
      yield* give(withUsage(held, toUsage(objectField(used, prompt))));
      held = [];
      prompt = id ?? `${prompt}+${++count}`;
      count = 0;
      yield* give([{ sourceId: prompt, kind: "message", role, blocks: toBlocks(content), fields }]);
      continue;
    }
    const sourceId = `${prompt}+${++count}`;
    const base = { sourceId, id: null, blocks: toBlocks(content), fields };
    if (role === "assistant") {
      yield* give(held);
      const answer: EntryDraft = { ...base, kind: "message", role, actor: FORMAT, model };
      held = [answer, ...toResults(results, base)];
    } else if (role === "compaction") {
      const data = { firstKeptEntryId: null, tokensBefore: null };
      held.push({ ...base, kind: "compaction", data });
    } else if (role === "system") {
      held.push({ ...base, kind: "message", role, marks: { injected: true } });
    } else {
      problems.add("unexpected", `message ${sourceId} is of an unknown kind: it is custom data`);
      held.push({ ...base, kind: "custom", data: { type: `${FORMAT}:message` } });
    }
  }
  yield* give(withUsage(held, toUsage(objectField(used, prompt))));
}

function withUsage(drafts: readonly EntryDraft[], usage: Usage | null): EntryDraft[] {
  return drafts.map((draft) => (draft.role === "assistant" ? { ...draft, usage } : draft));
}

interface Message {
  readonly role?: "user" | "assistant" | "system" | "compaction";
  readonly id?: string;
  readonly content: unknown;
  readonly results: readonly Fields[];
  readonly fields: JsonObject;
}

/** A message of version 0.3, named by its kind, or of an older one, with a role. */
function toMessage(message: unknown): Message {
  const fields: Fields = isPlainObject(message) ? message : {};
  const { User: user, Agent: agent, Compaction: compaction, role } = fields;
  if (isPlainObject(user)) {
    const id = textField(user, "id");
    const rest = otherFields(user, ["id", "content"]);
    return {
      role: "user",
      ...(id === undefined ? {} : { id }),
      content: user["content"],
      results: [],
      fields: rest,
    };
  }
  if (isPlainObject(agent)) {
    const results = Object.values(objectField(agent, "tool_results")).filter(isPlainObject);
    const rest = otherFields(agent, ["content", "tool_results"]);
    return { role: "assistant", content: agent["content"], results, fields: rest };
  }
  if (isPlainObject(compaction) && typeof compaction["Summary"] === "string") {
    return {
      role: "compaction",
      content: [{ Text: compaction["Summary"] }],
      results: [],
      fields: {},
    };
  }
  const known = role === "user" || role === "assistant" || role === "system" ? role : undefined;
  if (known === undefined) {
    return { content: message === undefined ? [] : [message], results: [], fields: {} };
  }
  const said = "segments" in fields ? objectsIn(fields["segments"]) : [{ text: fields["text"] }];
  const calls = objectsIn(fields["tool_uses"]).map((call) => ({ ToolUse: call }));
  const rest = otherFields(fields, ["id", "role", "segments", "text", "tool_uses", "tool_results"]);
  const content = [...said.map(toSegment), ...calls];
  const results = objectsIn(fields["tool_results"]);
  // In version 0.1 the results were in a message of the user.
  if (known === "user" && results.length > 0) {
    return { role: "assistant", content: [], results, fields: rest };
  }
  const id = fields["id"] === undefined ? {} : { id: `message-${nameOf(fields["id"])}` };
  return { role: known, ...id, content, results, fields: rest };
}

function toSegment(segment: Fields): Fields {
  if (segment["type"] === "thinking") return { Thinking: segment };
  return "text" in segment ? { Text: segment["text"] } : segment;
}

function toBlocks(content: unknown): Block[] {
  return (Array.isArray(content) ? content : []).map((part: unknown): Block => {
    const fields: Fields = isPlainObject(part) ? part : {};
    const { Text: text, Thinking: thought, ToolUse: call, Image: image } = fields;
    if (typeof text === "string") return { type: "text", text };
    if (isPlainObject(thought) && typeof thought["text"] === "string") {
      return thinkingBlock(thought["text"], textField(thought, "signature"));
    }
    if (isPlainObject(call)) {
      const { id, name, input } = call;
      const args = input === undefined ? (call["raw_input"] ?? {}) : input;
      return {
        type: "tool_use",
        id: nameOf(id ?? ""),
        name: nameOf(name ?? ""),
        input: typeof args === "string" ? args : JSON.stringify(args),
      };
    }
    if (isPlainObject(image) && typeof image["source"] === "string") {
      const mediaType = textField(image, "mime_type") ?? "image/png";
      return { type: "image", mediaType, data: image["source"] };
    }
    return { type: "opaque", provider: FORMAT, json: JSON.stringify(part) ?? "null" };
  });
}

function toResults(results: readonly Fields[], base: Pick<EntryDraft, "sourceId">): EntryDraft[] {
  if (results.length === 0) return [];
  const blocks = results.map((result) => {
    const { content, output } = result;
    const parts = toBlocks(toParts(content));
    const areTexts = parts.every(({ type }) => type === "text");
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const shown = typeof output === "string" ? output : JSON.stringify(output ?? null);
    const name = textField(result, "tool_name");
    const isError = result["is_error"] === true;
    const given = parts.length === 0 ? shown : areTexts ? text : parts;
    return resultBlock(nameOf(result["tool_use_id"] ?? ""), name, given, isError);
  });
  const actor = blocks.find(({ toolName }) => toolName !== undefined)?.toolName ?? null;
  const sourceId = `${base.sourceId}/results`;
  return [{ sourceId, id: null, kind: "message", role: "tool", actor, blocks }];
}

/** Older versions have a text, or a single part. */
function toParts(content: unknown): readonly unknown[] {
  if (typeof content === "string") return content === "" ? [] : [{ Text: content }];
  if (Array.isArray(content)) return content.flatMap(toParts);
  return content === undefined || content === null ? [] : [content];
}

function toUsage(tokens: Fields): Usage | null {
  const count = (name: string) => countField(tokens, name) ?? 0;
  const usage = {
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    cacheCreationTokens: count("cache_creation_input_tokens"),
    cacheReadTokens: count("cache_read_input_tokens"),
  };
  return Object.values(usage).some((each) => each > 0) ? usage : null;
}
