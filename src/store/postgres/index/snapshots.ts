/** Consecutive snapshots of one tenant, for computations that alternate with reads. */

import type { PostgresConnection } from "../postgres-driver.ts";
import type { Transaction } from "../transaction.ts";

/** Begins a read transaction of the tenant on its own connection. */
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

  /** All reads through it see one snapshot, until `end`. */
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
        // A connection that cannot end its transaction must not be reused.
        connection.giveBack(true);
      }
    };
    return { tx, end };
  }
}
