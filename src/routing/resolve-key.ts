/**
 * Derives the key of a message's conversation from its origin.
 *
 * The scope sets how direct messages are separated. By default two people never share a
 * conversation, and neither do two channels: a shared one would disclose one person's messages to
 * another.
 */

import { checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import {
  type ConversationPlace,
  formatSessionKey,
  type GroupKind,
  type KeyBranch,
} from "./session-key.ts";

export const DM_SCOPES = [
  "main",
  "per-peer",
  "per-channel-peer",
  "per-account-channel-peer",
] as const;
export type DmScope = (typeof DM_SCOPES)[number];

export const DEFAULT_DM_SCOPE: DmScope = "per-channel-peer";

export const CHAT_TYPES = ["direct", "group", "channel", "room"] as const;
export type ChatType = (typeof CHAT_TYPES)[number];

/** People by a chosen name, with their ids on channels. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

export interface KeySettings {
  readonly dmScope: DmScope;
  readonly mainKey: string;
  readonly identityLinks: IdentityLinks;
}

/** The origin of a message. */
export interface Origin {
  readonly agent: string;
  readonly channel?: string;
  readonly account?: string;
  /** The conversation partner: the id of a person, group, channel or room. */
  readonly peer?: string;
  readonly chatType?: ChatType;
  readonly thread?: string;
  readonly topic?: string;
}

/** Stands for a missing channel or group name. */
const UNKNOWN = "unknown";
const DEFAULT_ACCOUNT = "default";

export function resolveSessionKey(origin: Origin, settings: KeySettings): string {
  checkPart(origin, "origin", INPUTS["resolveSessionKey.origin"]);
  checkPart(settings, "settings", INPUTS["resolveSessionKey.settings"]);
  const { agent, thread, topic } = origin;
  const branches: KeyBranch[] = [
    ...(isGiven(topic) ? [{ kind: "topic" as const, id: topic }] : []),
    ...(isGiven(thread) ? [{ kind: "thread" as const, id: thread }] : []),
  ];
  return formatSessionKey({ agent, place: placeOf(origin, settings), branches });
}

function placeOf(origin: Origin, settings: KeySettings): ConversationPlace {
  const { chatType = "direct" } = origin;
  return chatType === "direct" ? directPlace(origin, settings) : groupPlace(chatType, origin);
}

function groupPlace(kind: GroupKind, { channel, peer }: Origin): ConversationPlace {
  return { kind, channel: nameOr(channel, UNKNOWN), id: nameOr(peer, UNKNOWN) };
}

/** Without a peer, every scope resolves to the main conversation. */
function directPlace(origin: Origin, settings: KeySettings): ConversationPlace {
  const { dmScope, mainKey, identityLinks } = settings;
  if (dmScope === "main" || !isGiven(origin.peer)) {
    return { kind: "main", name: nameOr(mainKey, "main") };
  }
  const channel = nameOr(origin.channel, UNKNOWN);
  const peer =
    linkedIdentity(identityLinks, channel, origin.peer) ??
    strangerId(identityLinks, channel, origin.peer);
  if (dmScope === "per-peer") return { kind: "direct", peer };
  if (dmScope === "per-channel-peer") return { kind: "direct", channel, peer };
  return { kind: "direct", channel, account: nameOr(origin.account, DEFAULT_ACCOUNT), peer };
}

/**
 * The person linked to an id, by the bare id or by `channel:id`. An entry with a colon is always
 * the latter: otherwise a peer with such an id would be that person on another channel. The first
 * match counts. Ids are case-sensitive, because on some channels case distinguishes people.
 */
export function linkedIdentity(
  links: IdentityLinks,
  channel: string,
  peer: string,
): string | undefined {
  const id = peer.trim();
  const named = `${channel.trim().toLowerCase()}:${id}`;
  const matches = (candidate: string) => {
    const text = candidate.trim();
    return text.includes(":") ? withLowerChannel(text) === named : text !== "" && text === id;
  };
  return Object.keys(links).find((name) => name.trim() !== "" && links[name]?.some(matches));
}

/**
 * An unlinked id. If it equals a linked person's name, alone or after a channel, it is prefixed
 * with its channel: a peer with such a name must not enter that person's conversation.
 */
function strangerId(links: IdentityLinks, channel: string, peer: string): string {
  const id = peer.trim();
  const names = Object.keys(links).map((name) => name.trim());
  if (!names.some((name) => id === name || id.endsWith(`:${name}`))) return id;
  let qualified = `${encodeURIComponent(channel.trim().toLowerCase())}:${id}`;
  // A person's name may contain a colon and equal that. No channel begins with a colon, so leading
  // colons make it distinct and reversible, and no two strangers collide.
  while (names.includes(qualified)) qualified = `:${qualified}`;
  return qualified;
}

function withLowerChannel(text: string): string {
  const colon = text.indexOf(":");
  return text.slice(0, colon + 1).toLowerCase() + text.slice(colon + 1);
}

function nameOr(name: string | undefined, other: string): string {
  return isGiven(name) ? name : other;
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}
