/** Shows an ingest's progress on a terminal: files, speed, time left. */

import { type IngestInput, survey } from "../../archive/ingest.ts";
import type { Totals } from "../../archive/outcome.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { formatBytes, formatCount } from "../print.ts";
import { Progress } from "../progress.ts";

export class IngestProgress {
  readonly #progress = new Progress();
  readonly #started = Date.now();
  #goal: { readonly files: number; readonly bytes: number } | undefined;

  /** Counts the files first, on a terminal. */
  async prepare(tenant: TenantApi, input: IngestInput): Promise<void> {
    if (!process.stderr.isTTY) return;
    this.#progress.show(() => "Looking for transcripts");
    this.#goal = await survey(tenant, input);
  }

  show(totals: Totals): void {
    this.#progress.show(() => this.#text(totals));
  }

  showIndexing(): void {
    this.#progress.show(() => "Indexing new messages");
  }

  end(): void {
    this.#progress.end();
  }

  #text(totals: Totals): string {
    const seconds = Math.max(0.1, (Date.now() - this.#started) / 1000);
    const done = totals.found - totals.files.unchanged;
    const speed = totals.bytes / seconds;
    const { files = 0, bytes = 0 } = this.#goal ?? {};
    const left = speed > 0 ? Math.ceil(Math.max(0, bytes - totals.bytes) / speed) : undefined;
    const rest = left === undefined || bytes === 0 ? "" : `, about ${formatCount(left)} s left`;
    return `Read ${formatCount(done)} of ${formatCount(Math.max(files, done))} files, ${formatBytes(speed)}/s${rest}`;
  }
}
