/** Remote session keys: the names, arguments and results of `Routes`. */

import { fromWire, type WireOf } from "../api/shape.ts";
import type { RoutesApi } from "../engine/interfaces/routes-api.ts";
import type { RoutePatch } from "../engine/routes/route-fields.ts";
import type {
  ListRoutesInput,
  PatchRouteOptions,
  PutRouteInput,
  RouteHistoryInput,
} from "../engine/routes/routes.ts";
import { BackscrollError } from "../model/errors.ts";
import type { RouteSession, SessionRoute } from "../model/route.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../model/route.ts";
import type { Connection } from "./connection.ts";
import { toWireNew } from "./new-session.ts";
import { at, known, toBody, toQuery } from "./request.ts";

export class RemoteRoutes implements RoutesApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get(key: string): Promise<SessionRoute> {
    const path = at`/v1/routes/${key}`;
    return fromWire(SESSION_ROUTE, await this.#connection.call({ method: "GET", path }));
  }

  async find(key: string): Promise<SessionRoute | undefined> {
    try {
      return await this.get(key);
    } catch (error) {
      if (BackscrollError.is(error, "session_key_not_found")) return undefined;
      throw error;
    }
  }

  async list(input: ListRoutesInput = {}): Promise<readonly SessionRoute[]> {
    const { routes } = await this.#connection.call<{
      readonly routes: readonly WireOf<typeof SESSION_ROUTE>[];
    }>({
      method: "GET",
      path: "/v1/routes",
      query: toQuery(known("routes.list", input)),
    });
    return routes.map((each) => fromWire(SESSION_ROUTE, each));
  }

  async put(key: string, input: PutRouteInput): Promise<SessionRoute> {
    const { create, ...rest } = known("routes.put", input, "route");
    const route = await this.#connection.call({
      method: "PUT",
      path: at`/v1/routes/${key}`,
      body: toBody({
        ...rest,
        ...(create === undefined ? {} : { create: toWireNew(create, "create") }),
      }),
    });
    return fromWire(SESSION_ROUTE, route);
  }

  async patch(
    key: string,
    fields: RoutePatch,
    options: PatchRouteOptions = {},
  ): Promise<SessionRoute> {
    const route = await this.#connection.call({
      method: "PATCH",
      path: at`/v1/routes/${key}`,
      body: toBody({ fields, ...known("routes.patch", options) }),
    });
    return fromWire(SESSION_ROUTE, route);
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
      readonly sessions: readonly WireOf<typeof ROUTE_SESSION>[];
    }>({ method: "GET", path, query: toQuery(known("routes.history", input)) });
    return sessions.map((each) => fromWire(ROUTE_SESSION, each));
  }
}
