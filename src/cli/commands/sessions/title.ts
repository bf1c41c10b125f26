import { toWireSession } from "../../../api/session.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const title: Command = defineCommand({
  name: "title",
  summary: "Give a session a title.",
  arguments: [
    { name: "SESSION", help: "The session's id." },
    { name: "TEXT", help: "The title; an empty one takes it away." },
  ],
  examples: ['title 01JZ8Q4V7N "Cron runs twice"'],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const session = await handle.setTitle(args.TEXT);
      if (context.json) await context.terminal.printJson(toWireSession(session));
      return EXIT.ok;
    }),
});
