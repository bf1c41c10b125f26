/** The reset type of a key's conversation. */

import { GROUP_KINDS, parseSessionKey, type SessionKey } from "../session-key.ts";

export const RESET_TYPES = ["direct", "group", "thread"] as const;
export type ResetType = (typeof RESET_TYPES)[number];

/** Threads and topics are threads anywhere; groups, channels and rooms are groups. */
export function resetTypeOf(key: SessionKey): ResetType {
  if ("alias" in key) return "direct";
  if (key.branches.some(({ kind }) => kind === "thread" || kind === "topic")) return "thread";
  return GROUP_KINDS.some((kind) => kind === key.place.kind) ? "group" : "direct";
}

/** The channel of a key, for settings by channel. */
export function channelOf(key: SessionKey): string | undefined {
  return "alias" in key || !("channel" in key.place) ? undefined : key.place.channel;
}

/** As `parseSessionKey`, but a key of unknown form is an alias. */
export function readSessionKey(text: string): SessionKey {
  try {
    return parseSessionKey(text);
  } catch {
    return { alias: text };
  }
}
