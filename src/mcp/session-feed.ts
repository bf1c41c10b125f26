/**
 * Turns a tenant's change feed into MCP notifications: resource updated, list changed.
 *
 * The feed is in the database, so every node sees all writes. It is followed only while there are
 * listeners. Frequent changes, such as of an open message, are coalesced.
 */

import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { TenantApi } from "../engine/interfaces.ts";
import { keepRunning } from "../engine/leases/outage.ts";
import type { Change } from "../model/change.ts";
import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import { urisOf } from "./resources.ts";

/** Coalescing: changes within this time are announced together. */
const GATHER_MS = 50;

type Listener = (event: ServerEvent) => void;

interface Following {
  readonly ended: AbortController;
  readonly started: Promise<void>;
}

export class SessionFeed implements ServerEventBus {
  readonly #tenant: TenantApi;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<Listener>();
  #following: Following | undefined;

  constructor(tenant: TenantApi, onError: (error: unknown) => void = () => undefined) {
    this.#tenant = tenant;
    this.#onError = onError;
  }

  /** Whether there are no listeners. */
  get idle(): boolean {
    return this.#listeners.size === 0;
  }

  publish(event: ServerEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#following === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#following = { ended: new AbortController(), started: promise };
      void this.#follow(this.#following.ended.signal, resolve);
    }
    return () => {
      this.#listeners.delete(listener);
      if (!this.idle) return;
      this.#following?.ended.abort();
      this.#following = undefined;
    };
  }

  /**
   * Resolves when listeners get every later change, or when the feed's end could not be read. A
   * subscription is acknowledged after that.
   */
  async started(): Promise<void> {
    await this.#following?.started;
  }

  /** Never rejects: reports a failure and resumes from its cursor. */
  async #follow(signal: AbortSignal, started: () => void): Promise<void> {
    const gathered = new Gathered((event) => this.publish(event));
    let after: string | undefined;
    const follow = async () => {
      try {
        after ??= (await this.#tenant.listChanges({ after: "end", limit: 1 })).next;
        started();
        for await (const change of this.#tenant.subscribe({ signal, after })) {
          after = change.cursor;
          gathered.add(change);
        }
      } catch (error) {
        started();
        // The store was restored or has failed over: follow its feed from the current end, and
        // announce that the list has changed.
        if (BackscrollError.is(error, "cursor_expired")) {
          after = undefined;
          this.publish({ kind: "resources_list_changed" });
        }
        throw error;
      }
    };
    await keepRunning(follow, { signal, onError: this.#onError });
    gathered.end();
  }
}

/** Pending notifications. */
class Gathered {
  readonly #tell: Listener;
  readonly #sessions = new Set<string>();
  #listChanged = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: Listener) {
    this.#tell = tell;
  }

  add({ kind, sessionId }: Change): void {
    if (sessionId === null) return;
    this.#sessions.add(sessionId);
    this.#listChanged ||= kind === "session_created" || kind === "session_deleted";
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = undefined;
    const sessions = [...this.#sessions];
    this.#sessions.clear();
    if (this.#listChanged) this.#tell({ kind: "resources_list_changed" });
    this.#listChanged = false;
    for (const uri of sessions.flatMap(urisOf)) this.#tell({ kind: "resource_updated", uri });
  }
}

/** Whether a message is the 2026 protocol's request for notifications. */
export function isListen(message: unknown): boolean {
  return isPlainObject(message) && message["method"] === "subscriptions/listen";
}
