/** Round-trip check: compares a written file, read back, with the session. */

import type { CarriedMessage } from "../../export/native/carried.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { type Block, inputTextOf } from "../../model/block.ts";
import { COPIED_PICTURE } from "../../transcript/copy-mark.ts";
import { parseExact } from "../../transcript/exact-json.ts";

/**
 * Describes the first difference; undefined if there is none. Thoughts and failures are not
 * compared.
 */
export function findDifference(
  carried: readonly CarriedMessage[],
  read: readonly ImportedEntry[],
): string | undefined {
  const wanted = carried.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => atoms(role, block)),
  );
  const found = read
    .filter(({ kind }) => kind === "message" || kind === "custom_message")
    .flatMap(({ role, blocks }) => blocks.flatMap((block) => atoms(role ?? "user", block)));
  const at = wanted.findIndex((atom, i) => atom !== found[i]);
  if (at >= 0)
    return `part ${at + 1} of ${wanted.length} is read as ${short(found[at])}, not ${short(wanted[at])}`;
  return found.length === wanted.length
    ? undefined
    : `it is read as ${found.length} parts, not ${wanted.length}`;
}

function atoms(role: string, block: Block): string[] {
  switch (block.type) {
    case "text":
      return [`${role} text ${block.text}`];
    case "tool_use":
      return [`call ${block.id} ${block.name} ${toJson(inputTextOf(block))}`];
    case "tool_result":
      return [`result ${block.toolUseId} ${outputOf(block.output)}`];
    case "image":
      return [`${role} image ${block.data ?? block.url ?? ""}`];
    default:
      return [];
  }
}

function outputOf(output: string | readonly Block[]): string {
  if (typeof output === "string") return output;
  return output.map((block) => (block.type === "text" ? block.text : COPIED_PICTURE)).join("\n");
}

/** As the formats represent it: a JSON object, or an object around the text. */
function toJson(input: string): string {
  try {
    const value = parseExact(input);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return JSON.stringify(isObject ? value : { input });
  } catch {
    // A model's arguments may be invalid JSON.
    return JSON.stringify({ input });
  }
}

function short(atom: string | undefined): string {
  if (atom === undefined) return "nothing";
  return JSON.stringify(atom.length > 80 ? `${atom.slice(0, 80)}…` : atom);
}
