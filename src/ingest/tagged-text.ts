/** Text in tags, among what an editor adds to a message. */

/**
 * Replaces each `<name>…</name>` by what `put` gives for it. An element ends at the first end of its
 * name. In one pass, also over openings without an end, after each of which a pattern would search
 * the rest of the text.
 */
export function replaceTagged(
  text: string,
  names: readonly string[],
  put: (inner: string, whole: string) => string,
): string {
  const lastEnds = new Map(names.map((name) => [name, text.lastIndexOf(`</${name}>`)]));
  let made = "";
  let from = 0;
  for (const { index, 1: name = "" } of text.matchAll(new RegExp(`<(${names.join("|")})>`, "g"))) {
    if (index < from || index > (lastEnds.get(name) ?? -1)) continue;
    const end = text.indexOf(`</${name}>`, index);
    const after = end + name.length + 3;
    const inner = text.slice(index + name.length + 2, end);
    made += text.slice(from, index) + put(inner, text.slice(index, after));
    from = after;
  }
  return made + text.slice(from);
}
