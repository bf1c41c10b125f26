/** Memories and facts: an agent's small items beside its conversations. */

import type { FieldsOf } from "./shape.ts";

export const MEMORY = {
  agent: "text",
  name: "text",
  content: "text",
  metadata: "object",
  createdAt: "time",
  updatedAt: "time",
} as const;

/** A small named note of one agent, always returned whole. */
export interface Memory extends FieldsOf<typeof MEMORY> {}

export const FACT = {
  id: "text",
  sessionId: "text",
  subject: "text",
  predicate: "text",
  object: "text",
  /** Its source entry. */
  sourceEntry: "text|null",
  /** From 0 to 1. */
  confidence: "share",
  createdAt: "time",
  supersededBy: "text|null",
} as const;

/** A statement taken from a conversation: subject, predicate, object. */
export interface Fact extends FieldsOf<typeof FACT> {}

/** A memory's key within its tenant, as one text. Neither part can contain the separator. */
export function memoryKey(agent: string, name: string): string {
  return `${agent}\u0000${name}`;
}

export function readMemoryKey(key: string): { readonly agent: string; readonly name: string } {
  const [agent = "", name = ""] = key.split("\u0000");
  return { agent, name };
}
