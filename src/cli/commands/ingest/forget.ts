import { type Command, defineCommand } from "../../command.ts";
import { runDeletion } from "../sessions/delete.ts";

export const forget: Command = defineCommand({
  name: "forget",
  summary: "Delete a session, and do not ingest it again.",
  details:
    "Deletes as delete does. The tombstone, a hash without content, keeps the session from being ingested again. To restore it: ingest FILE --force.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    yes: { type: "boolean", help: "Confirms the deletion." },
    cascade: { type: "boolean", help: "Also its forks, and the memories that were taken from it." },
  },
  examples: ["forget 5f0c2a91 --yes"],
  run: (context, args, options) => runDeletion(context, args.SESSION, options, "Forgot"),
});
