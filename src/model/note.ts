/** Memories, facts and rules: small items beside conversations. */

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

export const RULE_STATUSES = ["in_force", "candidate"] as const;

export const RULE = {
  id: "text",
  text: "text",
  status: { one: RULE_STATUSES as typeof RULE_STATUSES },
  /** The path or id of the project that it holds in; null: everywhere for its owner. */
  project: "text|null",
  /** Whose sessions it holds in; null: everybody's in the project. */
  owner: "text|null",
  sessionId: "text|null",
  /** Its source entry; null: it was added by hand. */
  sourceEntry: "text|null",
  /** The source as commands take it: `SESSION#N`. */
  source: "text|null",
  saidAt: "time",
  /** The text of the older rule about the same thing that it replaces. */
  replaces: "text|null",
} as const;

/**
 * A sentence that a person meant to stand, such as "always run the tests first". Found ones are
 * candidates until a person accepts them.
 */
export interface Rule extends FieldsOf<typeof RULE> {}

export const RULE_LIST = {
  rules: [RULE as typeof RULE],
  complete: {
    of: "flag",
    about: "False: candidates of older messages were not sought; name a session or project.",
  },
} as const;

/** Rules in force, then candidates, each the newest first. */
export interface RuleList extends FieldsOf<typeof RULE_LIST> {}

/** A memory's key within its tenant, as one text. Neither part can contain the separator. */
export function memoryKey(agent: string, name: string): string {
  return `${agent}\u0000${name}`;
}

export function readMemoryKey(key: string): { readonly agent: string; readonly name: string } {
  const [agent = "", name = ""] = key.split("\u0000");
  return { agent, name };
}
