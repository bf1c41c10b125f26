/** Moments of one tenant, one after the other, for what reads and computes by turns. */

import type { PostgresConnection } from "../postgres-driver.ts";
import type { Transaction } from "../transaction.ts";

/** Begins a read of the tenant on a connection of its own. */
export type BeginRead = () => Promise<{
  readonly tx: Transaction;
  readonly connection: PostgresConnection;
}>;

export class Snapshots {
  readonly #beginRead: BeginRead;
  readonly #tenant: number;
  #open: { readonly tx: Transaction; readonly end: () => Promise<void> } | undefined;

  constructor(tenant: number, beginRead: BeginRead) {
    this.#beginRead = beginRead;
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
    const { tx, connection } = await this.#beginRead();
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
