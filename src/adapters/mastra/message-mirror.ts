/**
 * The messages of a thread as a session, for search and for people.
 *
 * Write ordering: messages are stored here before their records, so search finds every message of a
 * list.
 */

import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { BlockInput } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, isSameJson, type JsonValue } from "../../model/json.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE, MAX_TITLE_BYTES } from "../../model/limits.ts";
import { digest } from "../common/records.ts";
import {
  canReplace,
  KnownSessions,
  replaceInPath,
  storeOrBare,
  treePages,
  untilSettled,
} from "../common/sessions.ts";
import { toBlocks } from "../common/ui-parts.ts";
import type { MastraMessage, MastraThread } from "./sdk-types.ts";

/** Marks the sessions (`origin.source`) and entries (`adapter`) of this adapter. */
export const SOURCE = "mastra";

/** The authors of messages. */
export interface Authors {
  readonly user: string;
  readonly agent: string;
}

export class MessageMirror {
  readonly #tenant: TenantApi;
  readonly #prefix: string;
  readonly #authors: Authors;
  readonly #sessions: KnownSessions;

  /** `prefix` is that of a thread's id in the key of its session. */
  constructor(tenant: TenantApi, prefix: string, authors: Authors) {
    this.#tenant = tenant;
    this.#prefix = prefix;
    this.#authors = authors;
    const { agent, user: createdBy } = authors;
    this.#sessions = new KnownSessions(tenant, { agent, createdBy, origin: { source: SOURCE } });
  }

  /** Stores messages of one thread. `findThread` is called for a new session. */
  async save(
    threadId: string,
    messages: readonly MastraMessage[],
    findThread: () => Promise<MastraThread | null>,
  ): Promise<void> {
    const inputs = await Promise.all(
      messages.map((message) => toEntryInput(message, this.#authors)),
    );
    const own = async () => {
      const thread = await findThread();
      const title = toTitle(thread?.title ?? "");
      const resourceId = thread?.resourceId ?? messages[0]?.resourceId;
      const metadata = resourceId === undefined ? {} : { resourceId };
      return title === "" ? { metadata } : { metadata, title };
    };
    await this.#sessions.run(this.#keyOf(threadId), (session) => storeAll(session, inputs), own);
  }

  /** Permanently removes the texts of messages, earlier versions included. */
  async remove(threadId: string, ids: readonly string[]): Promise<void> {
    const session = await this.#sessions.find(this.#keyOf(threadId));
    if (session === undefined) return;
    const gone = new Set<JsonValue>(ids);
    const { entryCount } = await session.meta();
    for await (const page of treePages(session, entryCount)) {
      for (const entry of page) if (gone.has(idOf(entry))) await session.removeEntry(entry.id);
    }
  }

  async setTitle(threadId: string, title: string): Promise<void> {
    const session = await this.#sessions.find(this.#keyOf(threadId));
    await session?.setTitle(toTitle(title));
  }

  deleteThread(threadId: string): Promise<void> {
    return this.#sessions.delete(this.#keyOf(threadId));
  }

  async clear(): Promise<void> {
    const filter = { keyPrefix: this.#prefix, source: SOURCE, machineMade: true, limit: MAX_PAGE };
    for (;;) {
      const { sessions } = await this.#tenant.listSessions(filter);
      if (sessions.length === 0) return;
      for (const { origin } of sessions) await this.#sessions.delete(origin.key ?? "");
    }
  }

  #keyOf(threadId: string): string {
    return `${this.#prefix}${threadId}`;
  }
}

async function storeAll(session: SessionApi, inputs: readonly MessageEntryInput[]): Promise<void> {
  for (let i = 0; i < inputs.length; i += MAX_BATCH_ENTRIES) {
    const batch = inputs.slice(i, i + MAX_BATCH_ENTRIES);
    const stored = await storeOrBare(batch, (entries) => session.appendEntries(entries));
    for (const [n, entry] of stored.entries()) {
      const input = batch[n] as MessageEntryInput;
      // Already stored: with the same content, or as another version on the path.
      if (!isSame(entry, input)) await untilSettled(() => replaceOld(session, input));
    }
  }
}

/** Replaces the last version of a message on the path. */
async function replaceOld(session: SessionApi, input: MessageEntryInput): Promise<void> {
  const { externalId, ...message } = input;
  let suffix: Entry[] = [];
  for (;;) {
    const [first] = suffix;
    const page = await session.history(
      first === undefined ? { limit: MAX_PAGE } : { limit: MAX_PAGE, before: first.id },
    );
    const at = page.findLastIndex((entry) => idOf(entry) === externalId);
    suffix = [...page.slice(Math.max(at, 0)), ...suffix];
    const [found] = suffix;
    if (at >= 0 && found !== undefined && isSame(found, input)) return;
    if (at >= 0 && canReplace(suffix)) {
      await replaceInPath(session, suffix, message);
      return;
    }
    // It was removed, or too much follows it: the newest version is the last message.
    if (at >= 0 || page.length < MAX_PAGE || !canReplace(suffix)) break;
  }
  await storeOrBare([message], (entries) => session.appendEntries(entries));
}

/** Cut to a session's title, at four bytes per character at most. */
function toTitle(title: string): string {
  return title.slice(0, MAX_TITLE_BYTES / 4).toWellFormed();
}

function isSame(entry: Entry, { raw }: MessageEntryInput): boolean {
  return isSameJson(entry.raw, raw as JsonValue);
}

function idOf({ raw, adapter }: Entry): JsonValue {
  return adapter === SOURCE && isPlainObject(raw) ? (raw["id"] as JsonValue) : null;
}

async function toEntryInput(message: MastraMessage, authors: Authors): Promise<MessageEntryInput> {
  const { id, content, createdAt } = message;
  const role = message.role === "user" || message.role === "system" ? message.role : "assistant";
  const blocks = blocksOf(content);
  return {
    role,
    actor: role === "user" ? authors.user : authors.agent,
    content: blocks,
    adapter: SOURCE,
    externalId: id,
    createdAt,
    // The message itself is in the records; the digest detects a changed text.
    raw: { id, digest: await digest(JSON.stringify([role, blocks])) },
  };
}

/** Parts of version 4 of the AI SDK have their calls in `toolInvocation`. */
function blocksOf(content: unknown): BlockInput[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const { parts, content: text } = Object(content) as Record<string, unknown>;
  const blocks = Array.isArray(parts) ? parts.filter(isPlainObject).flatMap(partBlocks) : [];
  if (blocks.length > 0 || typeof text !== "string" || text === "") return blocks;
  return [{ type: "text", text }];
}

function partBlocks(part: Record<string, unknown>): BlockInput[] {
  const { type, reasoning, toolInvocation: call } = part;
  if (type === "reasoning" && typeof reasoning === "string" && reasoning !== "") {
    return [{ type: "thinking", text: reasoning }];
  }
  if (type !== "tool-invocation" || !isPlainObject(call)) return toBlocks([part]);
  const { toolCallId, toolName, args, result } = call;
  return toBlocks([{ type: "dynamic-tool", toolCallId, toolName, input: args, output: result }]);
}
