/** Transcripts of the Claude Agent SDK: its types, and its keys, lines and summaries as ours. */

import type { TenantApi } from "../../engine/interfaces.ts";
import type { EntryInput } from "../../engine/writing/entry-input.ts";
import { toBlocks } from "../../ingest/claude-code/claude-lines.ts";
import { toUsage } from "../../ingest/claude-code/claude-usage.ts";
import type { Block } from "../../model/block.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";

// Types of the Claude Agent SDK's session store, as far as they are used here, declared without the
// package.

/** A transcript: of a session, or of one of its sub-agents (`subpath`). */
export interface ClaudeSessionKey {
  readonly projectKey: string;
  readonly sessionId: string;
  readonly subpath?: string | undefined;
}

/** A line of a transcript. */
export interface ClaudeEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [field: string]: unknown;
}

export interface ClaudeSummary {
  sessionId: string;
  /** Epoch milliseconds, by the clock of `listSessions`. */
  mtime: number;
  /** The SDK's own state. */
  data: Record<string, unknown>;
}

/** `foldSessionSummary` of the SDK. */
export type FoldSummary = (
  previous: ClaudeSummary | undefined,
  key: { projectKey: string; sessionId: string },
  entries: ClaudeEntry[],
  options?: { mtime?: number },
) => ClaudeSummary;

/** `SessionStore` of the SDK, with every optional method. */
export interface ClaudeSessionStore {
  append(key: ClaudeSessionKey, entries: ClaudeEntry[]): Promise<void>;
  load(key: ClaudeSessionKey): Promise<ClaudeEntry[] | null>;
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  listSessionSummaries(projectKey: string): Promise<ClaudeSummary[]>;
  delete(key: ClaudeSessionKey): Promise<void>;
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
}

/**
 * Marks the sessions (`origin.source`), entries (`adapter`) and custom entries (`type`) of this
 * adapter.
 */
export const SOURCE = "claude-agent-sdk";

/** The prefix of the keys of a project's sessions. */
export function projectPrefix(projectKey: string): string {
  return `${SOURCE}:${encodeURIComponent(projectKey)}/`;
}

/** Key of the main transcript. The parts are encoded, so that no two keys become one. */
export function mainKey({ projectKey, sessionId }: ClaudeSessionKey): string {
  return projectPrefix(projectKey) + encodeURIComponent(sessionId);
}

/** A sub-agent's key begins with that of its session, as `isSubAgent` expects. */
export function transcriptKey(key: ClaudeSessionKey): string {
  return key.subpath === undefined ? mainKey(key) : `${mainKey(key)}/${key.subpath}`;
}

/** The session's id in the key of a main transcript; undefined in that of a sub-agent's. */
export function sessionIdOf(key: string, projectKey: string): string | undefined {
  const rest = key.slice(projectPrefix(projectKey).length);
  return rest.includes("/") ? undefined : decodeURIComponent(rest);
}

// Lines of a transcript as entries, and back.
//
// Lines of users and assistants become messages, so that they are searched and shown; the line itself is
// kept beside the message. All other lines become custom entries.

/** The authors of messages. */
export interface Authors {
  readonly user: string;
  readonly agent: string;
}

/** Gives the usage that a line is stored with: an answer of several lines repeats its own on each. */
export type CountUsage = (answer: string | undefined, usage: Usage) => Usage | null;

export function toEntryInput(
  line: ClaudeEntry,
  authors: Authors,
  countUsage: CountUsage,
): EntryInput {
  const blocks = saidBlocks(line);
  if (blocks === undefined) return toCustomInput(line);
  const message = line["message"] as Record<string, unknown>;
  const role = roleOf(line.type, blocks);
  const { model, id } = message;
  const answer = typeof id === "string" ? id : undefined;
  const read = role === "assistant" ? toUsage(message["usage"]) : null;
  const usage = read === null ? null : countUsage(answer, read);
  return {
    role,
    content: blocks,
    adapter: SOURCE,
    raw: line as JsonValue,
    ...(role === "tool" ? {} : { actor: role === "user" ? authors.user : authors.agent }),
    ...(typeof model === "string" && model !== "" ? { model } : {}),
    ...(usage === null ? {} : { usage }),
    ...writerFields(line),
  };
}

/** The line as an extension's state. */
export function toCustomInput(line: ClaudeEntry): EntryInput {
  return { kind: "custom", type: SOURCE, data: line as JsonValue, ...writerFields(line) };
}

/** The line that an entry was made of; undefined if another program wrote the entry, or it is erased. */
export function toLine(entry: Entry): ClaudeEntry | undefined {
  if (entry.kind === "message") {
    return entry.adapter === SOURCE && isPlainObject(entry.raw)
      ? (entry.raw as ClaudeEntry)
      : undefined;
  }
  if (entry.kind !== "custom" || !isPlainObject(entry.data)) return undefined;
  const { type, data } = entry.data;
  return type === SOURCE ? (data as ClaudeEntry) : undefined;
}

/** The request in a line of a user, for the title of its session. */
export function requestOf(line: ClaudeEntry): string | undefined {
  const blocks = line.type === "user" ? saidBlocks(line) : undefined;
  if (blocks === undefined || roleOf(line.type, blocks) !== "user") return undefined;
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return text === "" ? undefined : text;
}

/** Undefined for a line without a message, including injected ones. */
function saidBlocks(line: ClaudeEntry): Block[] | undefined {
  const { type, message } = line;
  if ((type !== "user" && type !== "assistant") || !isPlainObject(message)) return undefined;
  if (line["isMeta"] === true || line["isCompactSummary"] === true) return undefined;
  return toBlocks(message["content"]);
}

function roleOf(type: string, blocks: readonly Block[]): "user" | "assistant" | "tool" {
  if (type === "assistant") return "assistant";
  return blocks.some((block) => block.type === "tool_result") ? "tool" : "user";
}

function writerFields({ uuid, timestamp }: ClaudeEntry): {
  readonly externalId?: string;
  readonly createdAt?: number;
} {
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return {
    ...(typeof uuid === "string" && uuid.trim() !== "" ? { externalId: uuid } : {}),
    ...(Number.isSafeInteger(time) && time >= 0 ? { createdAt: time } : {}),
  };
}

// Summaries of sessions, as the SDK folds them.
//
// A summary is derived from the transcript alone, and folded lazily: a listing folds the lines
// appended since the last one, and stores the result in a record. So appends need no lock.

/** Records of summaries are under the ids of their sessions. */
export const SUMMARIES: string = `${SOURCE}/summaries`;

/** The record of a session: its summary, the entries that it covers, and the last of them. */
interface Folded {
  readonly data: Record<string, unknown>;
  readonly entries: number;
  readonly last: string;
}

export interface ListedSession {
  readonly sessionId: string;
  readonly session: Session;
}

export async function readSummaries(
  tenant: TenantApi,
  projectKey: string,
  sessions: readonly ListedSession[],
  loadFold: () => Promise<FoldSummary>,
): Promise<ClaudeSummary[]> {
  const summaries: ClaudeSummary[] = [];
  for (let i = 0; i < sessions.length; i += MAX_PAGE) {
    const page = sessions.slice(i, i + MAX_PAGE);
    const stored = await tenant.records.getMany(
      SUMMARIES,
      page.map(({ session }) => session.id),
    );
    for (const [n, { sessionId, session }] of page.entries()) {
      const known = toFolded(stored[n]?.value);
      const folded =
        known?.entries === session.entryCount
          ? known
          : await foldMore(tenant, { projectKey, sessionId }, session, known, await loadFold());
      if (folded === undefined) continue;
      summaries.push({ sessionId, mtime: session.lastWriteAt, data: folded.data });
    }
  }
  return summaries;
}

/** Undefined if the session has no line. */
async function foldMore(
  tenant: TenantApi,
  key: { projectKey: string; sessionId: string },
  session: Session,
  known: Folded | undefined,
  fold: FoldSummary,
): Promise<Folded | undefined> {
  const { sessionId } = key;
  const mtime = session.lastWriteAt;
  let summary = known && { sessionId, mtime, data: known.data };
  let { entries, last } = known ?? { entries: 0, last: "" };
  const handle = tenant.session(session.id);
  for (let after: string | undefined = last; after !== undefined; ) {
    const start = after === "" ? {} : { after };
    const page = await handle.listEntries({ tree: true, limit: MAX_PAGE, ...start });
    const lines = page.entries.flatMap((entry) => {
      const line = toLine(entry);
      return line === undefined ? [] : [line];
    });
    if (lines.length > 0) summary = fold(summary, key, lines, { mtime });
    entries += page.entries.length;
    last = page.entries.at(-1)?.id ?? last;
    after = page.next;
  }
  if (summary === undefined) return undefined;
  const folded: Folded = { data: summary.data, entries, last };
  const value = folded as unknown as JsonObject;
  await tenant.records.put({ namespace: SUMMARIES, key: session.id, value });
  return folded;
}

function toFolded(value: unknown): Folded | undefined {
  if (!isPlainObject(value)) return undefined;
  const { data, entries, last } = value;
  if (!isPlainObject(data) || typeof entries !== "number" || typeof last !== "string") {
    return undefined;
  }
  return { data, entries, last };
}
