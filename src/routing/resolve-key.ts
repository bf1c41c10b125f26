/**
 * From where a message came from to the key of its conversation.
 *
 * How far direct messages are kept apart is the scope. By default two people never share a
 * conversation, and neither do two channels: a shared one would show what one person said to the next.
 */

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

/** People by one name of their own, and the ids that they have on channels. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

export interface KeySettings {
  readonly dmScope: DmScope;
  readonly mainKey: string;
  readonly identityLinks: IdentityLinks;
}

/** Where a message came from. */
export interface Origin {
  readonly agent: string;
  readonly channel?: string;
  readonly account?: string;
  /** Whom the agent talks with: a person's id, or that of the group, channel or room. */
  readonly peer?: string;
  readonly chatType?: ChatType;
  readonly thread?: string;
  readonly topic?: string;
}

/** What a channel or a group without a name of its own is called. */
const UNKNOWN = "unknown";
const DEFAULT_ACCOUNT = "default";

export function resolveSessionKey(origin: Origin, settings: KeySettings): string {
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
 * The person that the configuration links to an id, by the bare id or by `channel:id`. An entry
 * with a colon is always the latter: else a peer whose id reads so would be that person on another
 * channel. The first one listed counts. Ids are compared as they are, because on some channels case
 * makes another person.
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
 * An unlinked id. One that reads as a linked person's name, alone or behind a channel, is written
 * with its channel: a peer who calls himself so must not come into that person's conversation.
 */
function strangerId(links: IdentityLinks, channel: string, peer: string): string {
  const id = peer.trim();
  const names = Object.keys(links).map((name) => name.trim());
  if (!names.some((name) => id === name || id.endsWith(`:${name}`))) return id;
  let qualified = `${encodeURIComponent(channel.trim().toLowerCase())}:${id}`;
  // A person's name may hold a colon, and so read as that. No channel begins with one: colons in front
  // make a third thing, which can be read back, so that no two strangers become one.
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
