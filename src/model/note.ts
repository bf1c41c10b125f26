/** Memories and facts: small things that an agent keeps beside its conversations. */

import type { JsonObject } from "./json.ts";

/** A small named note of one agent. It is always returned whole. */
export interface Memory {
  readonly agent: string;
  readonly name: string;
  readonly content: string;
  readonly metadata: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A statement taken from a conversation: subject, predicate, object. */
export interface Fact {
  readonly id: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** The entry that it was taken from. */
  readonly sourceEntry: string | null;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly createdAt: number;
  readonly supersededBy: string | null;
}

/** What a memory is known by within its tenant, as one text. Neither part can hold the separator. */
export function memoryKey(agent: string, name: string): string {
  return `${agent}\u0000${name}`;
}

export function readMemoryKey(key: string): { readonly agent: string; readonly name: string } {
  const [agent = "", name = ""] = key.split("\u0000");
  return { agent, name };
}
