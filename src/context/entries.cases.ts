/** Entries for tests of what the model sees, without a store. */

import type { Block } from "../model/block.ts";
import type { Entry, Role } from "../model/entry.ts";

/** A path of messages with ids `e1`, `e2` … and indices from 0. */
export function pathOf(...messages: readonly Partial<Entry>[]): Entry[] {
  let index = 0;
  return messages.map((message, i) => {
    const counted = (message.kind ?? "message") === "message";
    return {
      ...EMPTY,
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

const EMPTY: Entry = {
  id: "e",
  sessionId: "s",
  externalId: null,
  sequence: 1,
  parentId: null,
  kind: "message",
  role: "user",
  actor: null,
  status: "committed",
  blocks: [],
  data: null,
  raw: null,
  index: 0,
  usage: null,
  model: null,
  adapter: null,
  supersededBy: null,
  copiedFrom: null,
  pinned: false,
  metadata: {},
  createdAt: 0,
  hash: null,
  truncated: false,
  erased: false,
};
