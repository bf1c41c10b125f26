/** How far a file was read: what a later reading needs to know whether it has to, and from where. */
export interface IngestedFile {
  readonly path: string;
  /** The format that it was read as. */
  readonly source: string;
  readonly size: number;
  /** In microseconds: many file systems have no finer time, and a number holds it exactly. */
  readonly mtimeUs: number;
  /** The end of the last line that was complete, and how many lines stand before it. */
  readonly offset: number;
  readonly lines: number;
  /** Of the bytes before `offset`; null if the file can only be read whole. */
  readonly tailHash: Uint8Array | null;
  /** What the reader needs to go on, as JSON text; null if it needs the whole file. */
  readonly state: string | null;
  /** By the host's clock. */
  readonly seenAt: number;
}
