/** Moments of one tenant, one after the other, for what reads and computes by turns. */

import type { PostgresPool } from "../postgres-driver.ts";
import { READ_START } from "../postgres-schema.ts";
import { Transaction } from "../transaction.ts";

export class Snapshots {
  readonly #pool: PostgresPool;
  readonly #name: string;
  readonly #tenant: number;
  #open: { readonly tx: Transaction; readonly end: () => Promise<void> } | undefined;

  constructor(pool: PostgresPool, name: string, tenant: number) {
    this.#pool = pool;
    this.#name = name;
    this.#tenant = tenant;
  }

  /** The number of the tenant, or `NO_TENANT`. */
  get tenant(): number {
    return this.#tenant;
  }

  /** All that is read through it is of one moment, until `end`. */
  async current(): Promise<Transaction> {
    this.#open ??= await this.#begin();
    return this.#open.tx;
  }

  async end(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.end();
  }

  async #begin(): Promise<{ tx: Transaction; end: () => Promise<void> }> {
    const connection = await this.#pool.take();
    const tx = new Transaction(connection, READ_START, this.#name, this.#tenant);
    const end = async () => {
      try {
        await tx.end("COMMIT");
        connection.giveBack();
      } catch {
        // A connection that cannot end its transaction must not be used again.
        connection.giveBack(true);
      }
    };
    return { tx, end };
  }
}
