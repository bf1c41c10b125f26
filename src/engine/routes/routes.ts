/**
 * The routes of a tenant: session keys and their current sessions.
 *
 * Mechanism only: a gateway derives keys and decides resets.
 */

import type { ChangeAuthor } from "../../model/change.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_SESSION_KEY_BYTES } from "../../model/limits.ts";
import type { RouteFields, RouteSession, SessionRoute } from "../../model/route.ts";
import { routeKeyNotFound } from "../../store/store-errors.ts";
import { checkInput, checkKey, checkLimit } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type CreateSessionInput, toNewSession } from "../session-input.ts";
import { checkRouteFields, checkRoutePatch, type RoutePatch } from "./route-fields.ts";

export interface PutRouteInput {
  /** An existing session; or use `create`. */
  readonly sessionId?: string;
  /** A session created in the same transaction. */
  readonly create?: Omit<CreateSessionInput, "idempotencyKey">;
  /** All fields of the route. Default: none. */
  readonly fields?: RouteFields & { readonly [name: string]: unknown };
  /** Compare-and-swap: fails with `route_conflict` at another version; 0: no route may exist. */
  readonly expectedVersion?: number;
  /** The reason, for the route's history. Default `set`. */
  readonly reason?: string;
}

export interface PatchRouteOptions {
  readonly expectedVersion?: number;
}

export interface ListRoutesInput {
  /** The last key of the previous page. */
  readonly after?: string;
  /** At most 500. Default 50. */
  readonly limit?: number;
}

export interface RouteHistoryInput {
  /** The version of the last session of the previous page. */
  readonly before?: number;
  /** At most 500. Default 50. */
  readonly limit?: number;
}

export class Routes {
  readonly #engine: EngineContext;

  constructor(engine: EngineContext) {
    this.#engine = engine;
  }

  /** The route of a key; throws `session_key_not_found`. */
  async get(key: string): Promise<SessionRoute> {
    const route = await this.find(key);
    if (route === undefined) throw routeKeyNotFound(key);
    return route;
  }

  async find(key: string): Promise<SessionRoute | undefined> {
    return this.#engine.store.findRoute(this.#engine.tenant, checkKey(key, "key"));
  }

  /** Ordered by key. */
  async list(input: ListRoutesInput = {}): Promise<readonly SessionRoute[]> {
    const { after, limit } = checkInput(input, "input", INPUTS["routes.list"]);
    return this.#engine.store.listRoutes(this.#engine.tenant, after, checkLimit(limit));
  }

  /** Points a key at a session. The previous one stays in `history`. */
  async put(key: string, input: PutRouteInput): Promise<SessionRoute> {
    const { store, tenant } = this.#engine;
    const {
      sessionId,
      create,
      fields = {},
      reason = "set",
    } = checkInput(input, "route", INPUTS["routes.put"]);
    const now = this.#engine.now();
    const target =
      create === undefined
        ? { sessionId: checkKey(sessionId, "sessionId") }
        : this.#newSession(create, now);
    return store.putRoute(tenant, {
      key: checkName(key, "key", MAX_SESSION_KEY_BYTES),
      ...target,
      fields: checkRouteFields(fields),
      reason: checkName(reason, "reason"),
      now,
      ...expected(input),
      ...this.#author,
    });
  }

  /** Changes fields of a route; null removes one. Concurrent changes of other fields are kept. */
  async patch(
    key: string,
    fields: RoutePatch,
    options: PatchRouteOptions = {},
  ): Promise<SessionRoute> {
    return this.#engine.store.patchRoute(this.#engine.tenant, {
      key: checkKey(key, "key"),
      fields: checkRoutePatch(fields),
      now: this.#engine.now(),
      ...expected(checkInput(options, "options", INPUTS["routes.patch"])),
      ...this.#author,
    });
  }

  /** Deletes a route. Its sessions stay. */
  async delete(key: string): Promise<void> {
    await this.#engine.store.deleteRoute(
      this.#engine.tenant,
      checkKey(key, "key"),
      this.#engine.now(),
      this.#engine.by,
    );
  }

  /** The sessions of a key, past and present, newest first. */
  async history(key: string, input: RouteHistoryInput = {}): Promise<readonly RouteSession[]> {
    const { before, limit } = checkInput(input, "input", INPUTS["routes.history"]);
    const { store, tenant } = this.#engine;
    return store.listRouteSessions(tenant, checkKey(key, "key"), before, checkLimit(limit));
  }

  /** The keys of a session, past and present, newest first; at most 50. */
  async ofSession(sessionId: string): Promise<readonly RouteSession[]> {
    const { store, tenant } = this.#engine;
    return store.listSessionRoutes(tenant, checkKey(sessionId, "sessionId"), checkLimit(undefined));
  }

  get #author(): { readonly by?: ChangeAuthor } {
    return this.#engine.by === undefined ? {} : { by: this.#engine.by };
  }

  #newSession(create: NonNullable<PutRouteInput["create"]>, now: number) {
    const { idempotency: _, ...session } = toNewSession(create, () => this.#engine.newId(), now);
    return { sessionId: session.id, session };
  }
}

function expected({ expectedVersion }: PatchRouteOptions): { expectedVersion?: number } {
  return expectedVersion === undefined ? {} : { expectedVersion };
}
