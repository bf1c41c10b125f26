import { toWire } from "../../../api/shape.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { SESSION_ROUTE } from "../../../model/route.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable, formatTime } from "../../print.ts";
import { commandLine, quote } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const routesList: Command = defineCommand({
  name: "routes list",
  summary: "List session keys and their current sessions.",
  options: {
    limit: {
      type: "string",
      value: "N",
      help: "Keys on a page: at most 500, which is the default.",
    },
    cursor: { type: "string", value: "KEY", help: "Go on after this key." },
  },
  examples: ["routes list"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit") ?? MAX_PAGE;
      const routes = await tenant.routes.list({ limit, ...given({ after: options.cursor }) });
      const next = routes.length < limit ? null : (routes.at(-1)?.key ?? null);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          routes: toWire([SESSION_ROUTE], routes),
          next_cursor: next,
        });
        return EXIT.ok;
      }
      if (routes.length === 0) {
        await terminal.print("No routes.");
        return EXIT.ok;
      }
      const rows = routes.map(({ key, sessionId, version, updatedAt }) => [
        key,
        sessionId,
        String(version),
        formatTime(updatedAt),
      ]);
      const header = ["KEY", "SESSION", "VERSION", "CHANGED"];
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      if (next !== null) {
        terminal.note(`More: ${commandLine(context, `routes list --cursor ${quote(next)}`)}`);
      }
      return EXIT.ok;
    }),
});
