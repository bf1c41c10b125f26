import { toWireTombstone } from "../../../api/maintenance.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { withStore } from "../../store.ts";

export const deleteSession: Command = defineCommand({
  name: "delete",
  summary: "Delete a session and all that was derived from it, for good.",
  details: "A tombstone stays, with the hash of what there was and no content.",
  arguments: [{ name: "SESSION", help: "The session's id." }],
  options: { yes: { type: "boolean", help: "Really. Required." } },
  examples: ["delete 01JZ8Q4V7N --yes"],
  run: (context, args, options) =>
    withStore(context, options.yes ? "write" : "read", async (tenant) => {
      const session = await tenant.getSessionMeta(args.SESSION);
      if (!options.yes) {
        throw usageError(
          `this would delete session ${session.id} with ${counted(session.messageCount, "message")} for good; add --yes`,
          "--yes",
        );
      }
      const tombstone = await tenant.deleteSession(session.id);
      if (context.json) await context.terminal.printJson(toWireTombstone(tombstone));
      else await context.terminal.print(`Deleted ${counted(tombstone.entryCount, "entry")}.`);
      return EXIT.ok;
    }),
});
