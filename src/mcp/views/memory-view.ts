/** Notes and facts as they are shown. */

import { z } from "zod";
import { maskFact, maskMemory } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { formatAgo } from "../../api/text/age.ts";
import type { Fact, Memory } from "../../model/note.ts";
import { FACT, MEMORY } from "../../model/note.ts";

export type MemoryView = Omit<WireOf<typeof MEMORY>, "metadata">;

export const MEMORY_VIEW: z.ZodType<MemoryView> = z.object({
  agent: z.string(),
  name: z.string(),
  content: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});

export const FACT_VIEW: z.ZodType<WireOf<typeof FACT>> = z.object({
  id: z.string(),
  session_id: z.string(),
  subject: z.string(),
  predicate: z.string(),
  object: z.string(),
  source_entry: z.string().nullable(),
  confidence: z.number(),
  created_at: z.string(),
  superseded_by: z.string().nullable(),
});

export function toMemoryView(memory: Memory): MemoryView {
  const { metadata: _, ...view } = toWire(MEMORY, maskMemory(memory));
  return view;
}

export function toFactView(fact: Fact): WireOf<typeof FACT> {
  return toWire(FACT, maskFact(fact));
}

export function showMemory({ agent, name, updated_at, content }: MemoryView, now: number): string {
  return `${name} [${agent}, ${formatAgo(Date.parse(updated_at), now)}]\n${content}`;
}

export function showFact({ subject, predicate, object, session_id }: WireOf<typeof FACT>): string {
  return `- ${subject} · ${predicate} · ${object} [${session_id}]`;
}
