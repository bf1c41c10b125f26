import { LONGEST_SECRET, maskText } from "../api/mask.ts";
import { oneLine } from "../compaction/digest/timeline.ts";

/** `text` as one line of at most `characters` code points, with secrets masked. */
export function maskedLine(text: string, characters: number): string {
  return oneLine(maskText(text.trim().slice(0, characters + LONGEST_SECRET)), characters);
}
