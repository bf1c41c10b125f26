/** The paths that a model names: below `/memories`, and nowhere else. */

import { MAX_RECORD_KEY_BYTES } from "../../model/limits.ts";

export const ROOT = "/memories";

/** A record of the history has the path, a line break, a time and a version in its key. */
const MAX_PATH_BYTES = MAX_RECORD_KEY_BYTES - 128;

/** A refused command; its message is the answer to the model. */
export class Refusal extends Error {}

/**
 * The path below `/memories`, without slashes at its ends; empty for the folder itself. Refuses
 * segments that lead out of it, also percent-encoded.
 */
export function toInnerPath(path: unknown): string {
  if (typeof path !== "string") throw new Refusal("Error: path must be a string");
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) {
    throw new Refusal(`Error: The path ${path} must start with ${ROOT}`);
  }
  const inner = path.slice(ROOT.length + 1).replace(/\/$/, "");
  if (inner === "") return "";
  for (const segment of inner.split("/")) {
    if (isUnsafe(segment)) {
      throw new Refusal(`Error: The path ${path} would escape the ${ROOT} directory`);
    }
  }
  if (new TextEncoder().encode(inner).length > MAX_PATH_BYTES) {
    throw new Refusal(`Error: The path is longer than ${MAX_PATH_BYTES} bytes`);
  }
  return inner;
}

export function toOuterPath(inner: string): string {
  return inner === "" ? ROOT : `${ROOT}/${inner}`;
}

function isUnsafe(segment: string): boolean {
  const plain = decoded(segment);
  if (plain === undefined || !segment.isWellFormed()) return true;
  return ["", ".", ".."].includes(plain) || /[\\/\p{Cc}]/u.test(plain);
}

/** Decodes every layer of percent-encoding; undefined if one is malformed. */
function decoded(segment: string): string | undefined {
  let plain = segment;
  for (;;) {
    if (!/%[0-9a-f]{2}/i.test(plain)) return plain;
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return undefined;
    }
  }
}
