import { toWire } from "../../../api/shape.ts";
import type { RoutePatch } from "../../../engine/routes/route-fields.ts";
import { SESSION_ROUTE } from "../../../model/route.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { given, toCount, toJsonObject } from "../../values.ts";

export const routesSet: Command = defineCommand({
  name: "routes set",
  summary: "Point a session key at a session, or change its fields.",
  details: "The key's previous session stays. Fields are merged; null removes one.",
  arguments: [
    { name: "KEY", help: "The session key." },
    { name: "SESSION", optional: true, help: "The new session of the key." },
  ],
  options: {
    fields: {
      type: "string",
      value: "JSON",
      help: 'Fields of the route, as in {"sendPolicy":"deny"}.',
    },
    "expect-version": {
      type: "string",
      value: "N",
      help: "Only if the route is at this version; 0: if there is none.",
    },
  },
  examples: [
    "routes set agent:main:telegram:direct:4711 5f0c2a91",
    'routes set agent:main:telegram:direct:4711 --fields \'{"sendPolicy":"deny"}\'',
  ],
  run: (context, args, options) => {
    const { KEY: key, SESSION: named } = args;
    const fields = toJsonObject(options.fields, "--fields") as RoutePatch | undefined;
    const expectedVersion = toCount(options["expect-version"], "--expect-version");
    if (named === undefined && fields === undefined) {
      throw usageError("say what to set: a SESSION, --fields, or both", "SESSION");
    }
    return withStore(context, "write", async (tenant) => {
      const sessionId = named === undefined ? undefined : (await tenant.getSessionMeta(named)).id;
      const old = sessionId === undefined ? undefined : await tenant.routes.find(key);
      // Compare-and-swap on the version just read, so that no concurrent change is lost.
      const seenNow = sessionId === undefined ? undefined : (old?.version ?? 0);
      const expected = given({ expectedVersion: expectedVersion ?? seenNow });
      const led =
        sessionId === undefined
          ? undefined
          : await tenant.routes.put(key, { sessionId, fields: old?.fields ?? {}, ...expected });
      const seen = led === undefined ? expected : { expectedVersion: led.version };
      const route = fields === undefined ? led : await tenant.routes.patch(key, fields, seen);
      if (context.json && route !== undefined) {
        await context.terminal.printJson(toWire(SESSION_ROUTE, route));
      }
      return EXIT.ok;
    });
  },
});
