/**
 * The messages of a thread as a session, for search and for people.
 *
 * Write ordering: messages are stored before the checkpoint that has them, so search finds every
 * message of a checkpoint.
 */

import type { TenantApi } from "../../engine/interfaces.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { KnownSessions, storeOrBare } from "../common/sessions.ts";
import type { Line } from "./keys.ts";

/** Marks the sessions (`origin.source`) and entries (`adapter`) of this adapter. */
const SOURCE = "langgraph";

export class MessageMirror {
  readonly #channel: string;
  readonly #authors: Authors;
  readonly #sessions: KnownSessions;

  constructor(tenant: TenantApi, channel: string, authors: Authors) {
    this.#channel = channel;
    this.#authors = authors;
    const { agent, user: createdBy } = authors;
    this.#sessions = new KnownSessions(tenant, { agent, createdBy, origin: { source: SOURCE } });
  }

  /** Adds the messages that a checkpoint has beyond its parent's. Subgraphs are skipped. */
  async add(
    { thread, ns }: Line,
    channel: string,
    values: readonly unknown[],
    checkpointId: string,
  ): Promise<void> {
    if (channel !== this.#channel || ns !== "") return;
    const messages = values.filter(isMessage);
    const inputs = messages.map((message, i) =>
      toEntryInput(message, this.#authors, `${checkpointId} ${i - messages.length}`),
    );
    for (let i = 0; i < inputs.length; i += MAX_BATCH_ENTRIES) {
      const batch = inputs.slice(i, i + MAX_BATCH_ENTRIES);
      await this.#sessions.run(keyOf(thread), (session) =>
        // A message whose blocks are refused is whole in the checkpoint.
        storeOrBare(batch, (entries) => session.appendEntries(entries, { existing: "replace" })),
      );
    }
  }

  deleteThread(thread: string): Promise<void> {
    return this.#sessions.delete(keyOf(thread));
  }
}

function keyOf(thread: string): string {
  return `${SOURCE}:${thread}`;
}

/** The authors of messages. */
interface Authors {
  readonly user: string;
  readonly agent: string;
}

type Fields = Readonly<Record<string, unknown>>;

const ROLES: Readonly<Record<string, "user" | "assistant" | "system" | "tool">> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
};

function isMessage(value: unknown): value is Fields {
  return roleOf(value) !== undefined && "content" in (value as Fields);
}

/** `place` replaces a missing id. */
function toEntryInput(message: Fields, authors: Authors, place: string): MessageEntryInput {
  const role = roleOf(message) ?? "user";
  const { id } = message;
  const actor = role === "user" ? authors.user : role === "assistant" ? authors.agent : undefined;
  return {
    role,
    content: role === "tool" ? [toResult(message)] : [...contentOf(message), ...callsOf(message)],
    adapter: SOURCE,
    externalId: typeof id === "string" && id !== "" ? id : place,
    // Lets a message without content be stored; the message itself is in the checkpoint.
    raw: { type: role },
    ...(actor === undefined ? {} : { actor }),
  };
}

function roleOf(value: unknown): MessageRole | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, role } = value as Fields;
  const name = typeof type === "string" && Object.hasOwn(ROLES, type) ? type : role;
  return typeof name === "string" && Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
}

type MessageRole = "user" | "assistant" | "system" | "tool";

function contentOf({ content }: Fields): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return (content as unknown[]).flatMap((part) => (isPlainObject(part) ? toBlocks(part) : []));
}

/** A call is in `tool_calls` as well, whatever the provider. */
function toBlocks(part: Fields): Block[] {
  const { type, text, thinking, reasoning } = part;
  if (type === "tool_use" || type === "tool_call" || type === "function_call") return [];
  if (typeof text === "string") return text === "" ? [] : [{ type: "text", text }];
  const thought = typeof thinking === "string" ? thinking : reasoning;
  if (typeof thought === "string" && thought !== "") return [{ type: "thinking", text: thought }];
  const json = JSON.stringify(part);
  return [{ type: "opaque", provider: "langchain", json }];
}

function callsOf({ tool_calls: calls }: Fields): Block[] {
  if (!Array.isArray(calls)) return [];
  return (calls as unknown[]).flatMap((call): Block[] => {
    if (!isPlainObject(call)) return [];
    const { id, name, args } = call;
    if (typeof id !== "string" || id === "" || typeof name !== "string") return [];
    return [{ type: "tool_use", id, name, input: JSON.stringify(args ?? {}) }];
  });
}

function toResult(message: Fields): Block {
  const { tool_call_id: id, name, status } = message;
  const blocks = contentOf(message);
  const [only] = blocks;
  return {
    type: "tool_result",
    toolUseId: typeof id === "string" ? id : "",
    ...(typeof name === "string" && name !== "" ? { toolName: name } : {}),
    output: blocks.length === 1 && only?.type === "text" ? only.text : blocks,
    isError: status === "error",
  };
}
