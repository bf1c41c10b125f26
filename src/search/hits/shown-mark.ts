/** The mark of a shown message in the cursor of a search: 41 bits of a hash of its id. */

/** The characters of a mark. */
export const MARK_LENGTH = 8;

export function shownMark(text: string): string {
  let low = 0x9e3779b9;
  let high = 0x85ebca6b;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x85ebca77) ^ (low >>> 15);
  }
  const mark = ((high >>> 8) & 0x1ff) * 2 ** 32 + ((low ^ (high >>> 13)) >>> 0);
  return mark.toString(36).padStart(MARK_LENGTH, "0");
}
