/**
 * Session keys: the text that identifies a conversation.
 *
 * A key names a place, not a session: the session behind it changes with every reset. It begins
 * with the agent, continues with the place of the conversation, and ends with its branches:
 *
 * agent:main:main
 *     agent:main:telegram:direct:4711
 *     agent:main:slack:channel:C042:thread:1712.55
 *     cron:nightly
 */

import { BackscrollError } from "../model/errors.ts";
import { MAX_SESSION_KEY_BYTES } from "../model/limits.ts";

/** The place of a conversation: people, or an automatic source. */
export type ConversationPlace =
  /** The one conversation that all direct messages share. */
  | { readonly kind: "main"; readonly name: string }
  /** With one person: on any channel, on one, or on one account of one. */
  | {
      readonly kind: "direct";
      readonly peer: string;
      readonly channel?: string;
      readonly account?: string;
    }
  | { readonly kind: GroupKind; readonly channel: string; readonly id: string }
  | { readonly kind: "cron"; readonly id: string }
  | { readonly kind: "hook"; readonly id: string }
  | { readonly kind: "subagent"; readonly id: string };

export const GROUP_KINDS = ["group", "channel", "room"] as const;
export type GroupKind = (typeof GROUP_KINDS)[number];

/** Branches of a place: a thread, a forum's topic, one run of a job, a sub-agent. */
export const BRANCH_KINDS = ["thread", "topic", "run", "subagent"] as const;
export interface KeyBranch {
  readonly kind: (typeof BRANCH_KINDS)[number];
  readonly id: string;
}

export interface PlaceKey {
  /** Null for jobs and hooks that belong to no agent: `cron:…`, `hook:…`. */
  readonly agent: string | null;
  readonly place: ConversationPlace;
  readonly branches: readonly KeyBranch[];
}

/** A chosen name such as `global`, without a place. */
export interface AliasKey {
  readonly alias: string;
}

export type SessionKey = PlaceKey | AliasKey;

/** The key as text, injective. */
export function formatSessionKey(key: SessionKey): string {
  if ("alias" in key) return checkSize(key.alias);
  const { agent, place, branches } = key;
  const parts = [
    ...(agent === null ? [] : ["agent", normalizeAgentId(agent)]),
    ...placeParts(place),
    ...branches.flatMap(({ kind, id }) => [kind, part(id, kind)]),
  ];
  return checkSize(parts.join(":"));
}

/**
 * Parses a key. Text without the prefix `agent:`, `cron:` or `hook:` is an alias. Throws
 * `invalid_input` for malformed text with such a prefix.
 *
 * The older spelling `dm` is read as `direct`.
 */
export function parseSessionKey(text: string): SessionKey {
  checkSize(text);
  const [first = "", ...rest] = text.split(":");
  if (!["agent", "cron", "hook"].includes(first)) return { alias: text };
  if (text.split(":").some((segment) => segment.trim() === "")) throw malformed(text);
  const parsed =
    first === "agent"
      ? { agent: normalizeAgentId(rest[0] ?? ""), ...parsePlace(rest.slice(1)) }
      : { agent: null, ...parsePlace([first, ...rest]) };
  if (parsed.place === undefined) throw malformed(text);
  return { agent: parsed.agent, place: parsed.place, branches: parsed.branches };
}

/** The parent's key; undefined if this is not a branch. */
export function parentKey(key: SessionKey): PlaceKey | undefined {
  if ("alias" in key || key.branches.length === 0) return undefined;
  return { ...key, branches: key.branches.slice(0, -1) };
}

/** The nesting depth of sub-agents in this key. */
export function subagentDepth(key: SessionKey): number {
  if ("alias" in key) return 0;
  const kinds = [key.place.kind, ...key.branches.map(({ kind }) => kind)];
  return kinds.filter((kind) => kind === "subagent").length;
}

/**
 * An agent's name as keys have it: lower case letters, digits, `_` and `-`, at most 64. Other
 * characters become a dash; an empty name becomes `main`.
 */
export function normalizeAgentId(name: string): string {
  const id = name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, 64)
    .replace(/(?<!-)-+$/, "");
  return id === "" ? "main" : id;
}

type Parsed = {
  readonly place: ConversationPlace | undefined;
  readonly branches: readonly KeyBranch[];
};

const NONE: Parsed = { place: undefined, branches: [] };

/** Places have one to four segments and branches two each, so no id can be taken for a keyword. */
function parsePlace(segments: readonly string[]): Parsed {
  const [a = "", b = "", c = "", d = ""] = segments;
  const ids = segments.map(decodeSegment);
  const [idA = "", idB = "", idC = "", idD = ""] = ids;
  const isOdd = segments.length % 2 === 1;
  const finish = (place: ConversationPlace, length: number): Parsed => {
    const branches = parseBranches(segments.slice(length));
    return branches === undefined ? NONE : { place, branches };
  };
  if (isOdd && isDirect(b)) return finish({ kind: "direct", channel: idA, peer: idC }, 3);
  const group = GROUP_KINDS.find((kind) => kind === b);
  if (isOdd && group !== undefined) return finish({ kind: group, channel: idA, id: idC }, 3);
  if (isOdd) return finish({ kind: "main", name: idA }, 1);
  if (segments.length >= 4 && isDirect(c) && d !== "") {
    return finish({ kind: "direct", channel: idA, account: idB, peer: idD }, 4);
  }
  if (isDirect(a)) return finish({ kind: "direct", peer: idB }, 2);
  if (a === "cron" || a === "hook" || a === "subagent") return finish({ kind: a, id: idB }, 2);
  return NONE;
}

function parseBranches(segments: readonly string[]): readonly KeyBranch[] | undefined {
  const branches: KeyBranch[] = [];
  for (let i = 0; i < segments.length; i += 2) {
    const kind = BRANCH_KINDS.find((each) => each === segments[i]);
    if (kind === undefined) return undefined;
    branches.push({ kind, id: decodeSegment(segments[i + 1] ?? "") });
  }
  return branches;
}

function isDirect(segment: string): boolean {
  return segment === "direct" || segment === "dm";
}

function placeParts(place: ConversationPlace): string[] {
  switch (place.kind) {
    case "main":
      return [part(place.name.toLowerCase(), "mainKey")];
    case "direct":
      return [
        ...(place.channel === undefined ? [] : [channelPart(place.channel)]),
        ...(place.account === undefined ? [] : [part(place.account, "account")]),
        "direct",
        part(place.peer, "peer"),
      ];
    case "cron":
    case "hook":
    case "subagent":
      return [place.kind, part(place.id, place.kind)];
    default:
      return [channelPart(place.channel), place.kind, part(place.id, place.kind)];
  }
}

/** Channels are named by programs, so case is ignored. */
function channelPart(channel: string): string {
  return part(channel.toLowerCase(), "channel");
}

function part(id: string, field: string): string {
  const segment = encodeSegment(id, field);
  if (segment !== "") return segment;
  throw new BackscrollError("invalid_input", `${field} must not be empty`, { details: { field } });
}

function checkSize(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  if (text !== "" && bytes <= MAX_SESSION_KEY_BYTES) return text;
  if (text === "") throw malformed(text);
  throw new BackscrollError(
    "too_large",
    `the session key has ${bytes} bytes; at most ${MAX_SESSION_KEY_BYTES} are allowed`,
    { details: { field: "key", limit: MAX_SESSION_KEY_BYTES, actual: bytes } },
  );
}

function malformed(text: string): BackscrollError {
  return new BackscrollError(
    "invalid_input",
    `"${text.slice(0, 80)}" is no session key; one looks like agent:main:telegram:direct:4711, agent:main:slack:channel:C042:thread:17 or cron:nightly`,
    { details: { field: "key" } },
  );
}

/**
 * Percent-encodes one part of a session key.
 *
 * Peers choose their own ids: a colon in one must not make two parts of it, and ids that differ in
 * case or white space must stay distinct. So other characters are percent-encoded, which is
 * injective.
 */

/**
 * Unescaped although a URL would escape them: mail addresses and telephone numbers stay readable.
 */
const PLAIN: Readonly<Record<string, string>> = { "%40": "@", "%2B": "+" };

/** An id as a segment. Empty if the id is empty or white space. */
function encodeSegment(id: string, field: string): string {
  if (!id.isWellFormed() || id.includes("\0")) {
    throw new BackscrollError(
      "invalid_input",
      `${field} must be well-formed Unicode without a NUL character`,
      { details: { field } },
    );
  }
  return encodeURIComponent(id.trim()).replace(/%40|%2B/g, (code) => PLAIN[code] ?? code);
}

/** The id of a segment; an unencoded segment is its own id. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
