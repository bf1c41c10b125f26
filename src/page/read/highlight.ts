/** Marks texts in rows without changing their elements: by the browser's custom highlights. */

/** Places that are marked at most. */
const MAX_RANGES = 2_000;

/** Marks every place of `texts` within the elements. White space matches any other, and case does not count. */
export function highlight(
  name: string,
  elements: Iterable<Element>,
  texts: readonly string[],
): void {
  if (!("highlights" in CSS)) return;
  const pattern = patternOf(texts);
  const ranges = pattern === undefined ? [] : rangesOf(elements, pattern);
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

function patternOf(texts: readonly string[]): RegExp | undefined {
  const parts = texts
    .map((text) => text.trim().split(/\s+/).map(escaped).join("\\s+"))
    .filter((part) => part !== "");
  return parts.length === 0 ? undefined : new RegExp(parts.join("|"), "giu");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\\-/g, "-");
}

function rangesOf(elements: Iterable<Element>, pattern: RegExp): Range[] {
  const ranges: Range[] = [];
  for (const element of elements) {
    const nodes: { readonly node: Text; readonly start: number }[] = [];
    let text = "";
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      nodes.push({ node: node as Text, start: text.length });
      text += (node as Text).data;
    }
    for (const match of text.matchAll(pattern)) {
      if (ranges.length >= MAX_RANGES) return ranges;
      const range = document.createRange();
      const [first, last] = [match.index, match.index + match[0].length - 1];
      const [from, to] = [placeOf(nodes, first), placeOf(nodes, last)];
      if (from === undefined || to === undefined) continue;
      range.setStart(from.node, first - from.start);
      range.setEnd(to.node, last - to.start + 1);
      ranges.push(range);
    }
  }
  return ranges;
}

function placeOf<Place extends { readonly start: number }>(nodes: readonly Place[], at: number) {
  return nodes.findLast(({ start }) => start <= at);
}
