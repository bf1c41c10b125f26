import { toWire } from "../../../api/shape.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../../../model/route.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable, formatTime } from "../../print.ts";
import { withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";

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
        await terminal.printJson({ ...toWire(SESSION_ROUTE, route), sessions });
        return EXIT.ok;
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
      const header = ["SESSION", "SINCE", "WHY"];
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      return EXIT.ok;
    }),
});
