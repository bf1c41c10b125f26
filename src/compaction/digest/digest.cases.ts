/** Builders of entries for tests. */

import type { Block } from "../../model/block.ts";
import { SAMPLE_ENTRY } from "../../model/entry.cases.ts";
import type { Entry, EntryKind, Role } from "../../model/entry.ts";
import type { SummaryStructure } from "../summary.ts";
import { addEntry, finishDigest, startDigest } from "./digest.ts";

export function entry(id: string, role: Role, ...content: (string | Block)[]): Entry {
  const blocks = content.map(
    (part): Block => (typeof part === "string" ? { type: "text", text: part } : part),
  );
  return { ...SAMPLE_ENTRY, id, sessionId: "session", index: null, role, blocks };
}

export function ofKind(kind: EntryKind, of: Entry): Entry {
  return { ...of, kind };
}

/** A tool call; arguments that are not a string become JSON. */
export function call(id: string, name: string, input: unknown): Block {
  return {
    type: "tool_use",
    id,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input),
  };
}

export function result(
  toolUseId: string,
  output: string,
  more: { error?: boolean; name?: string } = {},
): Block {
  return {
    type: "tool_result",
    toolUseId,
    ...(more.name === undefined ? {} : { toolName: more.name }),
    output,
    isError: more.error ?? false,
  };
}

export function digest(
  entries: readonly Entry[],
  previous: SummaryStructure | null = null,
): SummaryStructure {
  const started = startDigest(previous);
  for (const one of entries) addEntry(started, one);
  return finishDigest(started);
}
