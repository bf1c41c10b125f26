/** Remote session keys: the names, arguments and results of `Routes`. */

import { ROUTE_CALLS } from "../api/operations.ts";
import { fromWire } from "../api/shape.ts";
import type { RoutesApi } from "../engine/interfaces.ts";
import type { PutRouteInput } from "../engine/routes/routes.ts";
import { BackscrollError } from "../model/errors.ts";
import { SESSION_ROUTE, type SessionRoute } from "../model/route.ts";
import { toWireNew } from "./new-session.ts";
import { type CallsOf, callsOf } from "./plain-calls.ts";
import { at, known, toBody } from "./request.ts";

const PlainRoutes: CallsOf<RoutesApi, typeof ROUTE_CALLS> = callsOf<RoutesApi, typeof ROUTE_CALLS>(
  ROUTE_CALLS,
);

export class RemoteRoutes extends PlainRoutes implements RoutesApi {
  async find(key: string): Promise<SessionRoute | undefined> {
    try {
      return await this.get(key);
    } catch (error) {
      if (BackscrollError.is(error, "session_key_not_found")) return undefined;
      throw error;
    }
  }

  async put(key: string, input: PutRouteInput): Promise<SessionRoute> {
    const { create, ...rest } = known("routes.put", input, "route");
    const route = await this.connection.call({
      method: "PUT",
      path: at`/v1/routes/${key}`,
      body: toBody({
        ...rest,
        ...(create === undefined ? {} : { create: toWireNew(create, "create") }),
      }),
    });
    return fromWire(SESSION_ROUTE, route);
  }
}
