/** Splits bytes into lines; the rest without an end waits. */

export class Lines {
  #parts: Buffer[] = [];

  /** The lines that `chunk` completes, without their ends. */
  add(chunk: Buffer): string[] {
    const end = chunk.lastIndexOf(0x0a);
    if (end < 0) {
      this.#parts.push(chunk);
      return [];
    }
    const whole = Buffer.concat([...this.#parts, chunk.subarray(0, end)]);
    this.#parts = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    return whole.toString("utf8").split("\n");
  }

  /** What has no end yet. */
  rest(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
