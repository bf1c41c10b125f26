/** Cutting text to a number of bytes, as answers are measured in bytes. */

const encoder = new TextEncoder();
const MARK = "…";
const MARK_BYTES = 3;

/** The head of `text` that takes at most `limit` bytes, a mark included if something is missing. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return text;
  const room = new Uint8Array(Math.max(0, limit - MARK_BYTES));
  const { read } = encoder.encodeInto(text, room);
  return `${text.slice(0, read)}${MARK}`;
}
