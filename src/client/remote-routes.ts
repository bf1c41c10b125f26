/** Session keys behind a server: the names, arguments and results of `Routes`. */

import {
  fromWireRoute,
  fromWireRouteSession,
  type WireRoute,
  type WireRouteSession,
} from "../api/gateway.ts";
import { toWireFields } from "../api/wire.ts";
import type { RoutesApi } from "../engine/interfaces/routes-api.ts";
import type { RoutePatch } from "../engine/routes/route-fields.ts";
import type {
  ListRoutesInput,
  PatchRouteOptions,
  PutRouteInput,
  RouteHistoryInput,
} from "../engine/routes/routes.ts";
import { BackscrollError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Route, RouteSession } from "../model/route.ts";
import type { Connection } from "./connection.ts";
import { at, toBody, toQuery, toTimes } from "./request.ts";

export class RemoteRoutes implements RoutesApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get(key: string): Promise<Route> {
    const path = at`/v1/routes/${key}`;
    return fromWireRoute(await this.#connection.call<WireRoute>({ method: "GET", path }));
  }

  async find(key: string): Promise<Route | undefined> {
    try {
      return await this.get(key);
    } catch (error) {
      if (BackscrollError.is(error, "session_key_not_found")) return undefined;
      throw error;
    }
  }

  async list(input: ListRoutesInput = {}): Promise<readonly Route[]> {
    const { routes } = await this.#connection.call<{ readonly routes: readonly WireRoute[] }>({
      ...{ method: "GET", path: "/v1/routes", query: toQuery(input) },
    });
    return routes.map(fromWireRoute);
  }

  async put(key: string, input: PutRouteInput): Promise<Route> {
    const { create, ...rest } = input;
    const route = await this.#connection.call<WireRoute>({
      ...{ method: "PUT", path: at`/v1/routes/${key}` },
      body: toBody({ ...rest, ...(create === undefined ? {} : { create: toWireNew(create) }) }),
    });
    return fromWireRoute(route);
  }

  async patch(key: string, fields: RoutePatch, options: PatchRouteOptions = {}): Promise<Route> {
    const route = await this.#connection.call<WireRoute>({
      ...{ method: "PATCH", path: at`/v1/routes/${key}`, body: toBody({ fields, ...options }) },
    });
    return fromWireRoute(route);
  }

  async delete(key: string): Promise<void> {
    await this.#connection.call({ method: "DELETE", path: at`/v1/routes/${key}` });
  }

  history(key: string, input: RouteHistoryInput = {}): Promise<readonly RouteSession[]> {
    return this.#sessions(at`/v1/routes/${key}/sessions`, input);
  }

  ofSession(sessionId: string): Promise<readonly RouteSession[]> {
    return this.#sessions(at`/v1/sessions/${sessionId}/routes`, {});
  }

  async #sessions(path: string, input: RouteHistoryInput): Promise<readonly RouteSession[]> {
    const { sessions } = await this.#connection.call<{
      readonly sessions: readonly WireRouteSession[];
    }>({ method: "GET", path, query: toQuery(input) });
    return sessions.map(fromWireRouteSession);
  }
}

/** A session that is made together with its route, under its names on the wire. */
function toWireNew(create: NonNullable<PutRouteInput["create"]>): JsonObject {
  const { startedAt, origin, ...rest } = create;
  const fields = {
    ...{ ...rest, ...toTimes({ startedAt }) },
    ...(origin === undefined ? {} : { origin: toWireFields({ ...origin }) }),
  };
  return toWireFields(fields as JsonObject);
}
