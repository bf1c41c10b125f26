import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const routesDelete: Command = defineCommand({
  name: "routes delete",
  summary: "Delete a session key and its history. Its sessions stay.",
  arguments: [{ name: "KEY", help: "The session key, as routes list shows it." }],
  examples: ["routes delete agent:main:telegram:direct:4711"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      await tenant.routes.delete(args.KEY);
      return EXIT.ok;
    }),
});
