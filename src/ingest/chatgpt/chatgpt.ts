/** The export of ChatGPT: `conversations.json`, an array of conversations, each a tree of messages. */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { readElements } from "../document/list-scanner.ts";
import { type EntryDraft, toImportedEntry, toImportedSession, toTranscript } from "../drafts.ts";
import {
  type Fields,
  nameOf,
  objectField,
  otherFields,
  resultBlock,
  textField,
} from "../fields.ts";
import { textOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";

const FORMAT = "chatgpt";

/** The start of a conversation: after a damaged one, it locates the next. */
const BEGINS = /\{\s*"(?:title|conversation_id)"\s*:/;

export const CHATGPT: TranscriptSource = {
  name: FORMAT,

  recognise(head) {
    const text = textOfHead(head);
    return (
      /^\s*(?:\[\s*)?\{/.test(text) &&
      /"mapping"\s*:\s*\{/.test(text) &&
      /"(create_time|conversation_id|current_node)"\s*:/.test(text)
    );
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      for await (const conversation of readElements(input, BEGINS, problems)) {
        const session = toSession(conversation, problems);
        if (session !== undefined) yield session;
      }
    }),
};

function toSession(conversation: Fields, problems: ProblemLog): ImportedSession | undefined {
  const { mapping } = conversation;
  const id = textField(conversation, "conversation_id") ?? textField(conversation, "id");
  if (!isPlainObject(mapping) || id === undefined) {
    problems.add("unexpected", "a conversation without an id, or without messages, was left out");
    return undefined;
  }
  const tree = new ChatgptTree(mapping, problems);
  const known = ["conversation_id", "id", "title", "mapping", "create_time", "current_node"];
  return {
    ...toImportedSession(FORMAT, {
      id,
      title: textField(conversation, "title") || null,
      startedAt: toTime(conversation["create_time"]),
      fields: otherFields(conversation, known),
    }),
    entries: tree.entries(),
    leaf: () => tree.entryAt(textField(conversation, "current_node")),
    problems,
  };
}

/**
 * The tree of a conversation. Nodes without a message or text are skipped: their children attach to
 * the entry before them.
 */
interface NodePlace {
  /** The entry at or above the node that moves the leaf. */
  readonly entry: string | null;
  /** The last call above it: a tool's message does not name its call. */
  readonly call: CallPlace | undefined;
}

const ROOT: NodePlace = { entry: null, call: undefined };

class ChatgptTree {
  readonly #mapping: Record<string, unknown>;
  readonly #problems: ProblemLog;
  readonly #places = new Map<string, NodePlace>();

  /** A message is removed from `mapping` when given: a conversation may have many megabytes. */
  constructor(mapping: Record<string, unknown>, problems: ProblemLog) {
    this.#mapping = mapping;
    this.#problems = problems;
  }

  /** Parents before children; undefined if the node is missing. */
  entryAt(node: string | undefined): string | null | undefined {
    return node === undefined ? undefined : this.#places.get(node)?.entry;
  }

  async *entries(): AsyncGenerator<ImportedEntry> {
    for (const id of this.#order()) {
      const node = this.#mapping[id];
      this.#mapping[id] = undefined;
      if (!isPlainObject(node)) continue;
      const parent = textField(node, "parent");
      const above = parent === undefined ? ROOT : this.#places.get(parent);
      if (above === undefined) {
        const message = `the parent ${parent} of ${id} is missing; it becomes a root`;
        this.#problems.add("missing_parent", message);
      }
      const { entry, call } = above ?? ROOT;
      const message = isPlainObject(node["message"]) ? node["message"] : undefined;
      const draft = message === undefined ? undefined : toDraft(message, id, call);
      if (draft === undefined) {
        this.#places.set(id, above ?? ROOT);
        continue;
      }
      if (draft.unknown !== undefined) {
        const what = `a message of ${JSON.stringify(draft.unknown)} was kept as it is`;
        this.#problems.add("unexpected", what);
      }
      yield toImportedEntry(FORMAT, { ...draft.entry, parentSourceId: entry });
      const moves = draft.entry.kind !== "custom";
      this.#places.set(id, { entry: moves ? id : entry, call: draft.call ?? call });
    }
  }

  /** From each root down, then the nodes that no root reaches. */
  #order(): Iterable<string> {
    const seen = new Set<string>();
    const ids = Object.keys(this.#mapping);
    const isRoot = (id: string) => {
      const node = this.#mapping[id];
      const parent = isPlainObject(node) ? textField(node, "parent") : undefined;
      return parent === undefined || !Object.hasOwn(this.#mapping, parent);
    };
    for (const start of [...ids.filter(isRoot), ...ids]) {
      const todo = [start];
      for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
        if (seen.has(id) || !Object.hasOwn(this.#mapping, id)) continue;
        seen.add(id);
        const node = this.#mapping[id];
        const children = isPlainObject(node) ? node["children"] : [];
        // A stack: the first child's branch comes first.
        for (const child of Array.isArray(children) ? children.toReversed() : []) {
          if (typeof child === "string" && this.#isChild(child, id)) todo.push(child);
        }
      }
    }
    return seen;
  }

  #isChild(child: string, parent: string): boolean {
    const node = Object.hasOwn(this.#mapping, child) ? this.#mapping[child] : undefined;
    return isPlainObject(node) && node["parent"] === parent;
  }
}

/** The place of a tool call. */
interface CallPlace {
  readonly id: string;
  readonly name: string;
}

interface Draft {
  readonly entry: EntryDraft;
  /** The message's tool call. */
  readonly call?: CallPlace;
  /** An unknown author or content type. */
  readonly unknown?: string;
}

/** Undefined for empty messages, which are frequent. */
function toDraft(message: Fields, id: string, call: CallPlace | undefined): Draft | undefined {
  const content = objectField(message, "content");
  const author = objectField(message, "author");
  const metadata = objectField(message, "metadata");
  const { blocks, unknown } = toBlocks(content);
  if (blocks.length === 0) return undefined;
  const base = {
    sourceId: id,
    createdAt: toTime(message["create_time"]),
    model: textField(metadata, "model_slug") ?? null,
    fields: otherFields(message, ["id", "author", "content", "create_time"]),
  };
  const told = unknown === undefined ? {} : { unknown };
  const role = textField(author, "role");
  const type = textField(content, "content_type") ?? "";
  if (NOTES.has(type) || metadata["is_visually_hidden_from_conversation"] === true) {
    const data = { type: `${FORMAT}:${type}`, display: false };
    return { entry: { ...base, kind: "custom_message", blocks, data }, ...told };
  }
  switch (role) {
    case "user":
    case "system":
      return { entry: { ...base, kind: "message", role, blocks }, ...told };
    case "assistant":
      return { ...toAnswer(message, { ...base, blocks }), ...told };
    case "tool": {
      const name = textField(author, "name");
      const entry = toResult({ ...base, blocks }, name ?? call?.name, call?.id ?? `${id}/call`);
      return { entry, ...told };
    }
    default: {
      const data = { type: `${FORMAT}:message`, role: role ?? null };
      return { entry: { ...base, kind: "custom", blocks, data }, unknown: role ?? "no author" };
    }
  }
}

/** In seconds, with a fraction. */
function toTime(seconds: unknown): number | null {
  const value = Number(nameOf(seconds ?? ""));
  const isTime = seconds !== null && seconds !== undefined && value > 0 && value < 8.64e12;
  return isTime ? Math.round(value * 1000) : null;
}

/** Content types of the program's notes: about the user, and the model's thinking time. */
const NOTES: ReadonlySet<string> = new Set([
  "user_editable_context",
  "model_editable_context",
  "reasoning_recap",
]);

type Base = Omit<EntryDraft, "kind"> & { readonly blocks: readonly Block[] };

/** An answer with a recipient is a tool call. */
function toAnswer(message: Fields, base: Base): Draft {
  const answer = { ...base, kind: "message", role: "assistant", actor: FORMAT } as const;
  const name = textField(message, "recipient") ?? "all";
  if (name === "all") return { entry: answer };
  const text = base.blocks
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
  const input = isPlainObject(parseJson(text)) ? text : JSON.stringify({ text });
  const others = base.blocks.filter(({ type }) => type !== "text");
  const call = { id: base.sourceId, name };
  return { entry: { ...answer, blocks: [...others, { type: "tool_use", ...call, input }] }, call };
}

function toResult(base: Base, name: string | undefined, toolUseId: string): EntryDraft {
  const [only] = base.blocks;
  const output = base.blocks.length === 1 && only?.type === "text" ? only.text : base.blocks;
  const blocks = [resultBlock(toolUseId, name, output, false)];
  return { ...base, kind: "message", role: "tool", actor: name ?? null, blocks };
}

function toBlocks(content: Fields): { readonly blocks: Block[]; readonly unknown?: string } {
  const type = textField(content, "content_type") ?? "text";
  switch (type) {
    case "text":
    case "multimodal_text":
      return { blocks: listOf(content["parts"]).flatMap(toPart) };
    case "code":
    case "execution_output":
    case "system_error":
    case "tether_quote":
      return { blocks: toText(textField(content, "text"), otherFields(content, ["text"])) };
    case "tether_browsing_display":
      return { blocks: toText(textField(content, "result"), otherFields(content, ["result"])) };
    case "reasoning_recap":
      return { blocks: toText(textField(content, "content"), {}) };
    case "thoughts":
      return { blocks: listOf(content["thoughts"]).flatMap(toThought) };
    case "user_editable_context":
    case "model_editable_context":
      return {
        blocks: Object.entries(content).flatMap(([name, value]) =>
          name !== "content_type" && typeof value === "string" ? toText(value, {}) : [],
        ),
      };
    default:
      return {
        blocks: [{ type: "opaque", provider: FORMAT, json: JSON.stringify(content) }],
        unknown: type,
      };
  }
}

function toPart(part: unknown): Block[] {
  if (typeof part === "string") return toText(part, {});
  const fields: Fields = isPlainObject(part) ? part : {};
  const text = textField(fields, "text");
  if (text !== undefined) return toText(text, otherFields(fields, ["text"]));
  return [{ type: "opaque", provider: FORMAT, json: JSON.stringify(part) }];
}

function toThought(thought: unknown): Block[] {
  const fields: Fields = isPlainObject(thought) ? thought : {};
  const parts = [textField(fields, "summary"), textField(fields, "content")];
  const text = parts.filter(Boolean).join("\n");
  return text === "" ? [] : [{ type: "thinking", text }];
}

function toText(text: string | undefined, rest: Fields): Block[] {
  if (text === undefined || text === "") return [];
  const { content_type: _, ...others } = rest;
  return [{ ...others, type: "text", text }];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
