/** Memories and facts in answers. */

import { z } from "zod";
import type { WireFact, WireMemory } from "../../api/note.ts";
import { count, jsonObject, time } from "./common.ts";

const text = z.string();

export const memory: z.ZodType<WireMemory> = z
  .object({
    agent: text,
    name: text,
    content: text,
    metadata: jsonObject,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Memory" });

export const memories: z.ZodType = z
  .object({ memories: z.array(memory) })
  .meta({ id: "MemoryList" });

export const fact: z.ZodType<WireFact> = z
  .object({
    id: text,
    session_id: text,
    subject: text,
    predicate: text,
    object: text,
    source_entry: text.nullable(),
    confidence: z.number().min(0).max(1),
    created_at: time,
    superseded_by: text.nullable(),
  })
  .meta({ id: "Fact" });

export const facts: z.ZodType = z.object({ facts: z.array(fact) }).meta({ id: "FactList" });

export const extraction: z.ZodType = z
  .object({
    facts: z.array(fact),
    parts: z
      .array(
        z.object({
          from: text,
          through: text,
          messages: count,
          added: count,
          duplicates: count,
          withheld: count,
          unsupported: count,
          unread: count,
        }),
      )
      .meta({ description: "The result of each part of the conversation that was read." }),
  })
  .meta({ id: "Extraction" });
