/** A write-ahead log that stays, because the file cannot take its pages: the disk is full. */

export function describeUnmerged(path: string, reason: string): string {
  return `everything that was acknowledged is stored, but the write-ahead log could not be merged into ${path}: ${reason}. Keep ${path}-wal beside it; the next process that closes the store merges it, once there is room`;
}

/** The default handler: Node prints the warning once, to standard error. */
export function warnOfLog(sentence: string): void {
  process.emitWarning(sentence, { type: "BackscrollWarning", code: "BACKSCROLL_LOG" });
}
