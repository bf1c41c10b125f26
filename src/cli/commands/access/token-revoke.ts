import { toWire } from "../../../api/shape.ts";
import { ACCESS_TOKEN } from "../../../model/access.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const tokenRevoke: Command = defineCommand({
  name: "token revoke",
  summary: "Revoke an access token, from the next request on.",
  details: "It stays in the list. Revoking it again changes nothing.",
  arguments: [{ name: "TOKEN", help: "The token's id, as token list shows it." }],
  examples: ["token revoke 01JZ8T3G6K"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      const record = await tenant.revokeToken(args.TOKEN);
      if (context.json) await context.terminal.printJson(toWire(ACCESS_TOKEN, record));
      return EXIT.ok;
    }),
});
