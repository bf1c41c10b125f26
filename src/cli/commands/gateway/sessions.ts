import { toWireSession } from "../../../api/session.ts";
import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { SESSION_ROUTE, type SessionRoute } from "../../../model/route.ts";
import type { Session } from "../../../model/session.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, formatTable, formatTime } from "../../print.ts";
import { commandLine, quote } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const sessions: Command = defineCommand({
  name: "sessions",
  summary: "List conversations by key, each with its current session.",
  details:
    "Of a page, the one with the newest interaction stands first. Sessions that no key leads to are in backscroll list.",
  options: {
    limit: { type: "string", value: "N", help: "Keys on a page: at most 500, 50 if left out." },
    cursor: { type: "string", value: "KEY", help: "Go on after this key." },
  },
  examples: ["sessions"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit") ?? 50;
      const routes = await tenant.routes.list({ limit, ...given({ after: options.cursor }) });
      const next = routes.length < limit ? null : (routes.at(-1)?.key ?? null);
      const rows = await Promise.all(routes.map((route) => joined(tenant, route)));
      rows.sort((a, b) => interaction(b) - interaction(a));
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          sessions: rows.map(({ route, session }) => ({
            ...toWire(SESSION_ROUTE, route),
            session: session === null ? null : toWireSession(session),
          })),
          next_cursor: next,
        });
        return EXIT.ok;
      }
      if (rows.length === 0) {
        await terminal.print("There are no session keys yet.");
        return EXIT.ok;
      }
      const header = ["KEY", "SESSION", "LAST INPUT", "MESSAGES", "NAME"];
      const lines = formatTable(header, rows.map(toRow), terminal.columns);
      for (const line of lines) await terminal.print(line);
      if (next !== null) {
        terminal.note(`More: ${commandLine(context, `sessions --cursor ${quote(next)}`)}`);
      }
      return EXIT.ok;
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
