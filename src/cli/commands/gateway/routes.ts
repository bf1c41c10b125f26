import { toWireSession } from "../../../api/session.ts";
import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import type { RoutePatch } from "../../../engine/routes/route-fields.ts";
import { defined } from "../../../model/defined.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { ROUTE_SESSION, SESSION_ROUTE, type SessionRoute } from "../../../model/route.ts";
import type { Session } from "../../../model/session.ts";
import { type Command, defineCommand, option, usageError } from "../../command.ts";
import { formatCount, formatTime } from "../../print.ts";
import { printList, printTable } from "../../print-list.ts";
import { quote } from "../../program.ts";
import { withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";
import { toCount, toJsonObject } from "../../values.ts";

export const sessions: Command = defineCommand({
  name: "sessions",
  summary: "List conversations by key, each with its current session.",
  details:
    "Of a page, the one with the newest interaction stands first. Sessions that no key leads to are in backscroll list.",
  options: {
    limit: option("N", "Keys on a page: at most 500, 50 if left out."),
    cursor: option("KEY", "Go on after this key."),
  },
  examples: ["sessions"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit") ?? 50;
      const routes = await tenant.routes.list({ limit, ...defined({ after: options.cursor }) });
      const next = routes.length < limit ? null : (routes.at(-1)?.key ?? null);
      const rows = await Promise.all(routes.map((route) => joined(tenant, route)));
      rows.sort((a, b) => interaction(b) - interaction(a));
      const json = rows.map(({ route, session }) => ({
        ...toWire(SESSION_ROUTE, route),
        session: session && toWireSession(session),
      }));
      return printList(context, {
        json: { sessions: json, next_cursor: next },
        header: ["KEY", "SESSION", "LAST INPUT", "MESSAGES", "NAME"],
        rows: rows.map(toRow),
        none: "There are no session keys yet.",
        more: next === null ? null : `sessions --cursor ${quote(next)}`,
      });
    }),
});

interface Joined {
  readonly route: SessionRoute;
  /** Null if it was deleted: the next message starts another. */
  readonly session: Session | null;
}

async function joined(tenant: TenantApi, route: SessionRoute): Promise<Joined> {
  try {
    return { route, session: await tenant.getSessionMeta(route.sessionId) };
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return { route, session: null };
    throw error;
  }
}

function interaction({ session }: Joined): number {
  return session?.lastInteractionAt ?? 0;
}

function toRow({ route, session }: Joined): string[] {
  return [
    route.key,
    session === null ? `${route.sessionId} (deleted)` : route.sessionId,
    session === null ? "–" : formatTime(session.lastInteractionAt),
    session === null ? "–" : formatCount(session.messageCount),
    route.fields.displayName ?? route.fields.subject ?? "",
  ];
}

export const routesList: Command = defineCommand({
  name: "routes list",
  summary: "List session keys and their current sessions.",
  options: {
    limit: option("N", "Keys on a page: at most 500, which is the default."),
    cursor: option("KEY", "Go on after this key."),
  },
  examples: ["routes list"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit") ?? MAX_PAGE;
      const routes = await tenant.routes.list({ limit, ...defined({ after: options.cursor }) });
      const next = routes.length < limit ? null : (routes.at(-1)?.key ?? null);
      return printList(context, {
        json: { routes: toWire([SESSION_ROUTE], routes), next_cursor: next },
        header: ["KEY", "SESSION", "VERSION", "CHANGED"],
        rows: routes.map(({ key, sessionId, version, updatedAt }) => [
          key,
          sessionId,
          String(version),
          formatTime(updatedAt),
        ]),
        none: "No routes.",
        more: next === null ? null : `routes list --cursor ${quote(next)}`,
      });
    }),
});

export const routesShow: Command = defineCommand({
  name: "routes show",
  summary: "Show the current and earlier sessions of a key, and its fields.",
  arguments: [{ name: "KEY", help: "The session key, as routes list shows it." }],
  examples: ["routes show agent:main:telegram:direct:4711"],
  run: (context, args) =>
    withStore(context, "read", async (tenant) => {
      const route = await tenant.routes.get(args.KEY);
      const history = await tenant.routes.history(args.KEY);
      const { terminal } = context;
      if (context.json) {
        const sessions = toWire([ROUTE_SESSION], history);
        return terminal.printJson({ ...toWire(SESSION_ROUTE, route), sessions });
      }
      await terminal.print(`${terminal.bold(route.key)}  version ${route.version}`);
      for (const [name, value] of Object.entries(route.fields)) {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        await terminal.print(`  ${terminal.dim(name)}  ${oneLine(text)}`);
      }
      const rows = history.map(({ sessionId, since, reason }) => [
        sessionId,
        formatTime(since),
        reason,
      ]);
      await printTable(context, ["SESSION", "SINCE", "WHY"], rows);
    }),
});

export const routesSet: Command = defineCommand({
  name: "routes set",
  summary: "Point a session key at a session, or change its fields.",
  details: "The key's previous session stays. Fields are merged; null removes one.",
  arguments: [
    { name: "KEY", help: "The session key." },
    { name: "SESSION", optional: true, help: "The new session of the key." },
  ],
  options: {
    fields: option("JSON", 'Fields of the route, as in {"sendPolicy":"deny"}.'),
    "expect-version": option("N", "Only if the route is at this version; 0: if there is none."),
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
      const expected = defined({ expectedVersion: expectedVersion ?? seenNow });
      const led =
        sessionId === undefined
          ? undefined
          : await tenant.routes.put(key, { sessionId, fields: old?.fields ?? {}, ...expected });
      const seen = led === undefined ? expected : { expectedVersion: led.version };
      const route = fields === undefined ? led : await tenant.routes.patch(key, fields, seen);
      if (context.json && route !== undefined) {
        await context.terminal.printJson(toWire(SESSION_ROUTE, route));
      }
    });
  },
});

export const routesDelete: Command = defineCommand({
  name: "routes delete",
  summary: "Delete a session key and its history. Its sessions stay.",
  arguments: [{ name: "KEY", help: "The session key, as routes list shows it." }],
  examples: ["routes delete agent:main:telegram:direct:4711"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      await tenant.routes.delete(args.KEY);
    }),
});
