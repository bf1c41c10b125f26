import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { refuseServer, withOwnEngine } from "../../store.ts";

export const tenantDelete: Command = defineCommand({
  name: "tenant delete",
  summary: "Delete all data of a tenant, permanently.",
  details:
    "Deletes its sessions, records, memories, facts and routes, revokes its tokens, and sets its quota to zero. An interrupted deletion continues when run again. The change feed, the tombstones and the name stay, without content.",
  arguments: [{ name: "TENANT", help: "The tenant's name." }],
  options: { yes: { type: "boolean", help: "Confirms the deletion." } },
  examples: ["tenant delete acme --yes"],
  run: async (context, args, options) => {
    refuseServer(context, "tenant delete", "run it where the store is");
    if (!options.yes) {
      throw usageError(`this would delete all of ${args.TENANT} for good; add --yes`, "--yes");
    }
    return withOwnEngine(context, async (engine) => {
      const progress = new Progress();
      const deleted = await engine
        .deleteTenant(args.TENANT, {
          onProgress: ({ sessions }) =>
            progress.show(() => `Deleted ${counted(sessions, "session")}`),
        })
        .finally(() => progress.end());
      if (context.json) {
        await context.terminal.printJson({ tenant: args.TENANT, ...deleted });
        return EXIT.ok;
      }
      const sessions = counted(deleted.sessions, "session");
      const records = counted(deleted.records, "record");
      const memories = counted(deleted.memories, "memory");
      const routes = counted(deleted.routes, "route");
      const tokens = counted(deleted.tokens, "token");
      await context.terminal.print(
        `Deleted ${sessions}, ${records}, ${memories} and ${routes}, revoked ${tokens}.`,
      );
      return EXIT.ok;
    });
  },
});
