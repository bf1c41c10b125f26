/**
 * Conversations in the database of Cursor's editor: a record each, and one per message (a
 * "bubble"); earlier versions have the messages in the record, or a list of tabs.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { type EntryDraft, KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  otherFields,
  replaceTagged,
  textField,
  thinkingBlock,
  timeField,
} from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { CONVERSATION, cutRecord } from "../long/long-line.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import {
  type ForeignDatabase,
  type LongColumn,
  type Row,
  shortColumn,
  textOfRow,
} from "../sqlite-file.ts";

export const FORMAT = "cursor";

const TABS = "workbench.panel.aichat.view.aichat.chatdata";

const VALUE = shortColumn("value");
const MESSAGES: LongColumn = { table: "cursorDiskKV", key: "key", column: "value" };
/** Earlier versions have all messages, or all conversations, in one record. */
const CONVERSATIONS: LongColumn = { ...MESSAGES, limits: CONVERSATION };
const ITEMS: LongColumn = { ...CONVERSATIONS, table: "ItemTable" };

/** Rows may be written later than their timestamp. */
const SLACK_MS = 60_000;

export interface ComposersEnd {
  /** The resume state; the previous one if this reading failed. */
  readonly state: JsonObject | undefined;
  /** An answer is in progress, or some rows were unreadable. */
  readonly isPostponed: boolean;
}

/** Gives the changed conversations. */
export async function* readComposers(
  database: ForeignDatabase,
  resume: JsonObject | undefined,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession, ComposersEnd> {
  const since = countField(resume ?? {}, "since") ?? 0;
  let newest = since;
  let waiting = Number.POSITIVE_INFINITY;
  const keys = "key >= 'composerData:' AND key < 'composerData;'";
  const rows = database.has("cursorDiskKV")
    ? database.rows(`SELECT key, ${VALUE} FROM cursorDiskKV WHERE ${keys}`)
    : [];
  for (const row of rows) {
    const composer = recordOf(database, CONVERSATIONS, row, problems);
    const id = (textField(row, "key") ?? "").slice("composerData:".length);
    if (composer === undefined) {
      // A record without a value was deleted.
      if (row["value_size"] !== null)
        problems.add("not_json", `the conversation ${id} is not a JSON object, or too large`);
      continue;
    }
    // Without it, growth of the conversation cannot be detected.
    const updated = timeField(composer, "lastUpdatedAt");
    if (updated !== null && updated < since) continue;
    newest = Math.max(newest, updated ?? 0);
    const bubbles = bubblesOf(database, id, composer);
    const postpone = () => {
      waiting = Math.min(waiting, updated ?? newest);
    };
    const session = toSession(id, composer, bubbles, problems, postpone);
    if (session !== undefined) yield session;
  }
  yield* readTabs(database, problems);
  return {
    isPostponed: waiting < Number.POSITIVE_INFINITY || database.hasFailed,
    state: database.hasFailed
      ? resume
      : { since: Math.min(newest, waiting, Date.now() - SLACK_MS) },
  };
}

/** A conversation's messages, one in memory at a time where each has its own record. */
interface Bubbles {
  /** Restarts from the first message each time. `problems` reports missing ones. */
  read(problems: ProblemLog): Iterable<Fields>;
}

function bubblesOf(database: ForeignDatabase, composerId: string, composer: Fields): Bubbles {
  const inside = listOf(composer["conversation"]);
  if (inside.length > 0) return { read: () => inside };
  const headers = listOf(composer["fullConversationHeadersOnly"]);
  const map = objectField(composer, "conversationMap");
  function* read(problems: ProblemLog): Generator<Fields> {
    for (const header of headers) {
      const id = textField(header, "bubbleId") ?? "";
      const key = `bubbleId:${composerId}:${id}`;
      const [row] = database.rows(`SELECT key, ${VALUE} FROM cursorDiskKV WHERE key = ?`, key);
      const own = row && recordOf(database, MESSAGES, row, problems);
      const bubble = own ?? map[id];
      if (isPlainObject(bubble)) yield { type: header["type"], ...bubble, bubbleId: id };
      else problems.add("missing_reference", `the message ${id} of ${composerId} is missing`);
    }
  }
  return { read };
}

function toSession(
  id: string,
  composer: Fields,
  bubbles: Bubbles,
  problems: ProblemLog,
  postpone: () => void = () => {},
): ImportedSession | undefined {
  const cwd = folderOf(bubbles);
  if (cwd === undefined) {
    // All are missing: report, store nothing.
    for (const _ of bubbles.read(problems));
    return undefined;
  }
  const isLive = composer["status"] === "generating";
  const ids = new KnownIds(problems);
  async function* entries(): AsyncGenerator<ImportedEntry> {
    let i = 0;
    let last: Fields | undefined;
    function* give(bubble: Fields): Generator<ImportedEntry> {
      const own = textField(bubble, "bubbleId") ?? `bubble-${i}`;
      i++;
      if (!ids.isNew(own, bubble)) return;
      for (const draft of toBubbleDrafts(bubble, own)) yield toImportedEntry(FORMAT, draft);
    }
    for (const bubble of bubbles.read(problems)) {
      if (last !== undefined) yield* give(last);
      last = bubble;
    }
    // A message in progress is yielded once it is complete.
    if (last !== undefined && isLive && isOpen(last)) postpone();
    else if (last !== undefined) yield* give(last);
  }
  return {
    ...toImportedSession(FORMAT, {
      id,
      title: textField(composer, "name") || null,
      cwd,
      startedAt: timeField(composer, "createdAt"),
      fields: kept(composer),
    }),
    entries: entries(),
    problems,
  };
}

/**
 * The first folder that a message names; null if none does, undefined without messages. Damage is
 * reported when they are read.
 */
function folderOf(bubbles: Bubbles): string | null | undefined {
  let found: null | undefined;
  for (const bubble of bubbles.read(new ProblemLog())) {
    const folder = textField(bubble, "workspaceProjectDir");
    if (folder) return folder;
    found = null;
  }
  return found;
}

/** The panel of the earliest versions. */
async function* readTabs(
  database: ForeignDatabase,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  if (!database.has("ItemTable")) return;
  const [row] = database.rows(`SELECT key, ${VALUE} FROM ItemTable WHERE key = ?`, TABS);
  const { tabs } = (row && recordOf(database, ITEMS, row, problems)) ?? {};
  for (const tab of listOf(tabs)) {
    const id = textField(tab, "tabId");
    const bubbles = listOf(tab["bubbles"]).map((bubble) => ({
      ...bubble,
      type: bubble["type"] === "user" ? 1 : 2,
      text: textField(bubble, "rawText") ?? textField(bubble, "text") ?? "",
    }));
    const composer = { name: tab["chatTitle"], createdAt: tab["lastSendTime"] };
    const all = { read: () => bubbles };
    const session = id === undefined ? undefined : toSession(id, composer, all, problems);
    if (session !== undefined) yield session;
  }
}

/** The non-empty small fields of a record beside its messages. */
function kept(composer: Fields): JsonObject {
  const rest = otherFields(composer, ["conversation", "fullConversationHeadersOnly", "name"]);
  return Object.fromEntries(
    Object.entries(rest).filter(([, value]) => ["string", "number"].includes(typeof value)),
  );
}

function recordOf(
  database: ForeignDatabase,
  column: LongColumn,
  row: Row,
  problems: ProblemLog,
): Record<string, unknown> | undefined {
  const text = textOfRow(database, column, row, problems) ?? "";
  const isMessage = column.limits === undefined;
  const short = isMessage ? cutRecord(text, textField(row, "key") ?? "", problems) : text;
  const parsed = parseJson(short);
  return isPlainObject(parsed) ? parsed : undefined;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

// Maps messages of Cursor's editor.

const USER = 1;

/** An empty bubble, which is frequent, gives no entry. */
function toBubbleDrafts(bubble: Fields, id: string): EntryDraft[] {
  const isUser = bubble["type"] === USER;
  const tool = objectField(bubble, "toolFormerData");
  const text = textField(bubble, "text") ?? "";
  const blocks: Block[] = [
    ...toThought(bubble["thinking"]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...toCall(tool, id),
  ];
  if (blocks.length === 0) return [];
  const createdAt = timeField(bubble, "createdAt");
  const model = objectField(bubble, "modelInfo");
  const said: EntryDraft = {
    sourceId: id,
    kind: "message",
    role: isUser ? "user" : "assistant",
    actor: isUser ? null : FORMAT,
    blocks,
    createdAt,
    model: textField(model, "modelName") ?? textField(bubble, "modelType") ?? null,
    usage: isUser ? null : toUsage(bubble["tokenCount"]),
    fields: meaningful(otherFields(bubble, KNOWN)),
  };
  return [said, ...toResult(tool, id, createdAt)];
}

/** Whether its tool's result or its text is still missing. */
function isOpen(bubble: Fields): boolean {
  return bubble["type"] !== USER;
}

const KNOWN = [
  "bubbleId",
  "type",
  "text",
  "rawText",
  "thinking",
  "toolFormerData",
  "createdAt",
  "tokenCount",
  "modelInfo",
  "modelType",
  // The text again, in the editor's own form.
  "richText",
];

function toThought(thinking: unknown): Block[] {
  const fields: Fields = isPlainObject(thinking) ? thinking : { text: thinking };
  const text = textField(fields, "text") ?? "";
  const signature = textField(fields, "signature");
  if (text === "") return [];
  return [thinkingBlock(text, signature)];
}

function toCall(tool: Fields, id: string): Block[] {
  const name = textField(tool, "name");
  if (name === undefined) return [];
  const input = textField(tool, "rawArgs") ?? tool["params"] ?? {};
  return [
    {
      type: "tool_use",
      id: textField(tool, "toolCallId") ?? id,
      name,
      input: typeof input === "string" ? input : JSON.stringify(input),
    },
  ];
}

function toResult(tool: Fields, id: string, createdAt: number | null): EntryDraft[] {
  const toolName = textField(tool, "name");
  const { result, status, error } = tool;
  const isOver = ["completed", "error", "cancelled"].includes(nameOf(status));
  if (toolName === undefined || (result === undefined && !isOver)) return [];
  const content = result ?? error ?? "";
  const output = typeof content === "string" ? content : JSON.stringify(content);
  const toolUseId = textField(tool, "toolCallId") ?? id;
  const isError = status === "error" || status === "cancelled";
  const known = ["name", "rawArgs", "params", "result", "toolCallId", "status"];
  return [
    {
      sourceId: `${id}/result`,
      id: null,
      kind: "message",
      role: "tool",
      actor: toolName,
      blocks: [{ type: "tool_result", toolUseId, toolName, output, isError }],
      createdAt,
      fields: meaningful(otherFields(tool, known)),
    },
  ];
}

function toUsage(tokens: unknown): Usage | null {
  const fields: Fields = isPlainObject(tokens) ? tokens : {};
  const inputTokens = countField(fields, "inputTokens") ?? 0;
  const outputTokens = countField(fields, "outputTokens") ?? 0;
  if (inputTokens + outputTokens === 0) return null;
  return { inputTokens, outputTokens, cacheCreationTokens: 0, cacheReadTokens: 0 };
}

/** Bubbles have dozens of fields, most of them empty. */
function meaningful(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== null &&
        value !== false &&
        value !== "" &&
        !(typeof value === "object" && Object.keys(value).length === 0),
    ),
  );
}

/** The blocks with the typed text, and the template around it. */
export function unwrapQuery(blocks: readonly Block[]): {
  readonly blocks: Block[];
  readonly context: string;
} {
  const context: string[] = [];
  const unwrapped = blocks.map((block) => {
    if (block.type !== "text") return block;
    let query: string | undefined;
    const rest = replaceTagged(block.text, ["user_query"], (inner, whole) => {
      const isFirst = query === undefined;
      query ??= inner.trim();
      return isFirst ? "" : whole;
    });
    if (query === undefined) return block;
    context.push(rest.trim());
    return { ...block, text: query };
  });
  return { blocks: unwrapped, context: context.filter((text) => text !== "").join("\n") };
}
