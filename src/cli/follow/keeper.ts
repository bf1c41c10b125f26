/**
 * Keeps a store up to date beside an MCP server: reads new lines before a call, and follows
 * transcripts between calls.
 */

import type { FreshReader } from "../../archive/fresh-reader.ts";
import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import { thisMachine } from "../../ingest/identity/this-machine.ts";
import type { Unread } from "../../mcp/host.ts";
import type { Context } from "../context.ts";
import { Follower, type FollowerOptions } from "./follower.ts";

/** How long a call waits for new lines. */
export const FRESH_MS = 300;

export class Keeper {
  readonly #follower: Follower;
  readonly #reader: Promise<FreshReader>;

  constructor(context: Context, tenant: TenantApi, options: FollowerOptions) {
    const { onError } = options;
    this.#follower = new Follower(context, options);
    // Loaded during the client's handshake.
    this.#reader = import("../../archive/fresh-reader.ts").then(
      (module) =>
        new module.FreshReader(tenant, {
          environment: thisMachine(),
          cwd: process.cwd(),
          budgetMs: FRESH_MS,
          onError,
          isFollowed: () => this.#follower.isReady,
        }),
    );
    this.#reader.catch(onError);
  }

  /** As `freshen` of a host. */
  readonly freshen = async (): Promise<Unread> => (await this.#reader).read();

  /** Records a request. */
  asked(): void {
    this.#follower.asked();
  }

  /** Resolves after the signal is aborted. */
  async ended(): Promise<void> {
    await Promise.all([this.#follower.ended(), (await this.#reader).ended()]);
  }
}
