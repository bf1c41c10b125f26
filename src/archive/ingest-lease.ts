/**
 * The lease under which one of many processes follows this machine's transcripts.
 *
 * It spares work and no more: ingesting twice stores once. So a file is enough, beside the store or
 * among the user's own: who holds the lease touches it now and then, and who finds it untouched for
 * a while, or its owner dead, takes it over.
 */

import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";

export interface IngestLeaseOptions {
  /** Where the lease is kept: the same for all who share a store and a machine. */
  readonly file: string;
  readonly pid: number;
  /** A process id means something only on its own machine. */
  readonly machine: string;
  /** Unique to this try. */
  readonly token: string;
}

interface Owner {
  readonly pid: number;
  readonly machine: string;
  readonly token: string;
}

/** An owner that has not touched the file for so long is taken to be dead. */
export const LEASE_MS = 30_000;

export class IngestLease {
  readonly #options: IngestLeaseOptions;

  constructor(options: IngestLeaseOptions) {
    this.#options = options;
  }

  /** Takes the lease, or says who has it by giving false. Throws if the file cannot be written. */
  take(): boolean {
    const { file } = this.#options;
    try {
      writeFileSync(file, this.#content(), { flag: "wx" });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (!this.#isLeft()) return false;
    // Two may get here at once: the last one wins, and the other finds out when it renews.
    const own = `${file}.${this.#options.token}`;
    writeFileSync(own, this.#content());
    renameSync(own, file);
    return true;
  }

  /** False if somebody else has taken the lease over. */
  renew(): boolean {
    if (this.#owner()?.token !== this.#options.token) return false;
    try {
      const now = new Date();
      utimesSync(this.#options.file, now, now);
      return true;
    } catch {
      // Deleted between the two: whoever comes next may have it.
      return false;
    }
  }

  release(): void {
    if (this.#owner()?.token === this.#options.token) rmSync(this.#options.file, { force: true });
  }

  #content(): string {
    const { pid, machine, token } = this.#options;
    return JSON.stringify({ pid, machine, token } satisfies Owner);
  }

  #isLeft(): boolean {
    const { file, machine } = this.#options;
    try {
      if (Date.now() - statSync(file).mtimeMs > LEASE_MS) return true;
    } catch {
      return true;
    }
    const owner = this.#owner();
    return owner !== undefined && owner.machine === machine && !isAlive(owner.pid);
  }

  /** Undefined while it is being written, or if it is not what we write: then only its age counts. */
  #owner(): Owner | undefined {
    try {
      return JSON.parse(readFileSync(this.#options.file, "utf8")) as Owner;
    } catch {
      return undefined;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
