/** Cuts text by code points. */

/** The first `max` code points of `text`, with "…" if it was cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  let end = 0;
  for (let count = 0; count < max && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  const head = text.slice(0, end).toWellFormed();
  return end < text.length ? `${head}…` : head;
}

/** Characters read of a text that becomes a line. */
const HEAD_LENGTH = 8_192;

/**
 * `text` as one line of at most `max` code points. White space with a line break becomes one space:
 * lines have a meaning in a summary, so quoted text must not add any.
 */
export function oneLine(text: string, max: number): string {
  const near = text.slice(0, 4 * max);
  if (near.length < text.length && !/^\s/.test(near)) {
    // The head usually suffices: text of more than twice as many units has more code points.
    const joined = joinLines(near).trimEnd();
    if (joined.length > 2 * max) return cutText(joined, max);
  }
  const head = text.slice(0, HEAD_LENGTH);
  const joined = joinLines(head);
  const line = cutText(joined === head ? head : joined.trim(), max);
  return head.length < text.length && !line.endsWith("…") ? `${line}…` : line;
}

function joinLines(text: string): string {
  if (!LINE_BREAK.test(text)) return text;
  return text.replace(/\s+/g, (run) => (LINE_BREAK.test(run) ? " " : run));
}

const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
