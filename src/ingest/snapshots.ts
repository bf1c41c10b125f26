/**
 * Lines with what a program sent along with a request: its prompts, its list of tools, the state of
 * files. They hold no conversation and may be most of a file, so they are told by their beginning
 * and not parsed.
 */

/** Whether a type is such a one: `attribution-snapshot`, `world_state`. */
export function isSnapshot(type: unknown): type is string {
  return typeof type === "string" && (type.includes("snapshot") || type === "world_state");
}

const TYPED = /^\{(?:"timestamp":"[^"]*",)?(?:"ordinal":\d+,)?"type":"([\w-]{1,60})"/;

/** The type of such a line. One with other fields before its type is parsed. */
export function snapshotType(text: string): string | undefined {
  const [, type] = TYPED.exec(text) ?? [];
  return isSnapshot(type) ? type : undefined;
}
