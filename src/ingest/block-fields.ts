/** Blocks that several agents write alike, except for a name. Unknown fields stay on them. */

import type { Block } from "../model/block.ts";
import { type Fields, otherFields, textField } from "./fields.ts";

export function toTextBlock(fields: Fields): Block | undefined {
  const text = textField(fields, "text");
  if (text === undefined) return undefined;
  return { ...otherFields(fields, ["type", "text"]), type: "text", text };
}

/** `inputName` is the field of the arguments: text is kept to the byte, other values as JSON. */
export function toCallBlock(fields: Fields, inputName: string): Block | undefined {
  const id = textField(fields, "id");
  const name = textField(fields, "name");
  const input = fields[inputName];
  if (id === undefined || name === undefined || input === undefined) return undefined;
  return {
    ...otherFields(fields, ["type", "id", "name", inputName]),
    type: "tool_use",
    id,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input),
  };
}
