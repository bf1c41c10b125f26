/** Blocks on the wire. Text that a provider checks again later is passed on byte for byte. */

import type { Block } from "../model/block.ts";

/** A block with its fields in snake_case; fields that only a provider knows keep their names. */
export interface WireBlock {
  readonly type: Block["type"];
  readonly [field: string]: unknown;
}

/** Our own names that differ on the wire. Any other field is passed on under its name. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  toolUseId: "tool_use_id",
  toolName: "tool_name",
  isError: "is_error",
  mediaType: "media_type",
};

export function toWireBlock(block: Block): WireBlock {
  const fields = Object.entries(block).map(([name, value]) => [
    WIRE_NAMES[name] ?? name,
    name === "output" && Array.isArray(value) ? value.map(toWireBlock) : value,
  ]);
  return Object.fromEntries(fields) as WireBlock;
}
