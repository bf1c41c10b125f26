/** Blocks on the wire. Text that a provider verifies is passed on byte for byte. */

import type { Block } from "../model/block.ts";

/** A block with fields in snake_case; a provider's fields keep their names. */
export interface WireBlock {
  readonly type: Block["type"];
  readonly [field: string]: unknown;
}

/** Our names that differ on the wire, by type. Other fields keep their names. */
const WIRE_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tool_use: { inputText: "input_text" },
  tool_result: { toolUseId: "tool_use_id", toolName: "tool_name", isError: "is_error" },
  image: { mediaType: "media_type" },
};

const OWN_NAMES: typeof WIRE_NAMES = Object.fromEntries(
  Object.entries(WIRE_NAMES).map(([type, names]) => [
    type,
    Object.fromEntries(Object.entries(names).map(([own, wire]) => [wire, own])),
  ]),
);

export function toWireBlock(block: Block): WireBlock {
  return rename(block, WIRE_NAMES, toWireBlock) as WireBlock;
}

export function fromWireBlock(block: WireBlock): Block {
  return rename(block, OWN_NAMES, fromWireBlock) as unknown as Block;
}

function rename<Each extends { readonly type: string }>(
  block: Each,
  names: typeof WIRE_NAMES,
  inner: (block: Each) => unknown,
): Record<string, unknown> {
  const own = Object.hasOwn(names, block.type) ? (names[block.type] ?? {}) : {};
  const fields = Object.entries(block).map(([name, value]) => [
    Object.hasOwn(own, name) ? own[name] : name,
    block.type === "tool_result" && name === "output" && Array.isArray(value)
      ? value.map(inner)
      : value,
  ]);
  return Object.fromEntries(fields) as Record<string, unknown>;
}
