/**
 * A heap that stays small while much passes through it.
 *
 * V8 lets the room for new objects grow to what a busy program fills between two collections: more
 * than a hundred megabytes for who reads transcripts, although next to nothing of them is kept. Kept
 * at its first size, ingesting takes 5 % more time and 130 MB less memory. It is the whole process
 * that this is set for, so only a program may do it: a host of the library decides for itself.
 */

import { setFlagsFromString } from "node:v8";

export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
