/** Memories and facts on the wire. */

import type { JsonObject } from "../model/json.ts";
import type { Fact, Memory } from "../model/note.ts";
import { fromWireTime, toWireTime } from "./wire.ts";

export interface WireMemory {
  readonly agent: string;
  readonly name: string;
  readonly content: string;
  readonly metadata: JsonObject;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface WireFact {
  readonly id: string;
  readonly session_id: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly source_entry: string | null;
  readonly confidence: number;
  readonly created_at: string;
  readonly superseded_by: string | null;
}

export function toWireMemory(memory: Memory): WireMemory {
  return {
    agent: memory.agent,
    name: memory.name,
    content: memory.content,
    metadata: memory.metadata,
    created_at: toWireTime(memory.createdAt),
    updated_at: toWireTime(memory.updatedAt),
  };
}

export function toWireFact(fact: Fact): WireFact {
  return {
    id: fact.id,
    session_id: fact.sessionId,
    subject: fact.subject,
    predicate: fact.predicate,
    object: fact.object,
    source_entry: fact.sourceEntry,
    confidence: fact.confidence,
    created_at: toWireTime(fact.createdAt),
    superseded_by: fact.supersededBy,
  };
}

export function fromWireMemory(memory: WireMemory): Memory {
  return {
    agent: memory.agent,
    name: memory.name,
    content: memory.content,
    metadata: memory.metadata,
    createdAt: fromWireTime(memory.created_at),
    updatedAt: fromWireTime(memory.updated_at),
  };
}

export function fromWireFact(fact: WireFact): Fact {
  return {
    id: fact.id,
    sessionId: fact.session_id,
    subject: fact.subject,
    predicate: fact.predicate,
    object: fact.object,
    sourceEntry: fact.source_entry,
    confidence: fact.confidence,
    createdAt: fromWireTime(fact.created_at),
    supersededBy: fact.superseded_by,
  };
}
