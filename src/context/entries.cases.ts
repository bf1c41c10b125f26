/** Entries for tests, without a store. */

import type { Block } from "../model/block.ts";
import { SAMPLE_ENTRY } from "../model/entry.cases.ts";
import type { Entry, Role } from "../model/entry.ts";

/** A path of messages with ids `e1`, `e2` … and indices from 0. */
export function pathOf(...messages: readonly Partial<Entry>[]): Entry[] {
  let index = 0;
  return messages.map((message, i) => {
    const counted = (message.kind ?? "message") === "message";
    return {
      ...SAMPLE_ENTRY,
      id: `e${i + 1}`,
      sequence: i + 1,
      index: counted ? index++ : null,
      ...message,
    };
  });
}

export function says(role: Role, text: string, over: Partial<Entry> = {}): Partial<Entry> {
  return { role, blocks: [{ type: "text", text }], ...over };
}

export function calls(...ids: readonly string[]): Partial<Entry> {
  const blocks = ids.map((id): Block => ({ type: "tool_use", id, name: "read", input: "{}" }));
  return { role: "assistant", blocks };
}

export function results(outputs: Readonly<Record<string, string>>): Partial<Entry> {
  const blocks = Object.entries(outputs).map(
    ([toolUseId, output]): Block => ({ type: "tool_result", toolUseId, output, isError: false }),
  );
  return { role: "tool", blocks };
}
