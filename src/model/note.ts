/** Memories and facts: an agent's small items beside its conversations. */

import type { JsonObject } from "./json.ts";

/** A small named note of one agent, always returned whole. */
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
  /** Its source entry. */
  readonly sourceEntry: string | null;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly createdAt: number;
  readonly supersededBy: string | null;
}

/** A memory's key within its tenant, as one text. Neither part can contain the separator. */
export function memoryKey(agent: string, name: string): string {
  return `${agent}\u0000${name}`;
}

export function readMemoryKey(key: string): { readonly agent: string; readonly name: string } {
  const [agent = "", name = ""] = key.split("\u0000");
  return { agent, name };
}
