import { toWire } from "../../../api/shape.ts";
import { ACCESS_SCOPES, ACCESS_TOKEN } from "../../../model/access.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toChoice, toFuture } from "../../values.ts";

export const tokenCreate: Command = defineCommand({
  name: "token create",
  summary: "Create an access token for callers of the server.",
  details:
    "The token is printed once; only its hash is stored. Tenant and actor come from the token, never from the request.",
  options: {
    scope: {
      type: "string",
      value: "SCOPE",
      help: "Required: read, write or admin; each includes the ones before.",
    },
    actor: { type: "string", value: "NAME", help: "The actor of its writes." },
    "act-as": {
      type: "string",
      value: "LIST",
      help: "Further actors that it may write as: names separated by commas, or any.",
    },
    expires: {
      type: "string",
      value: "WHEN",
      help: "Its expiry: in 12h, 30d or 8w, or a date; never if left out.",
    },
    label: { type: "string", value: "TEXT", help: "A name for the list." },
    operator: {
      type: "boolean",
      help: "Permits copying, restoring and verifying the whole store, of every tenant. Only with --scope admin.",
    },
  },
  examples: [
    "token create --scope read --expires 30d",
    'token create --tenant acme --scope write --actor ci --act-as ana,ben --label "build server"',
    "token create --scope admin --operator",
  ],
  run: (context, _args, options) => {
    const scope = toChoice(options.scope, ACCESS_SCOPES, "--scope");
    if (scope === undefined) {
      throw usageError("token create needs --scope read, write or admin", "--scope");
    }
    const { actor, label, operator } = options;
    const actAs = toNames(options["act-as"]);
    const expires = toFuture(options.expires, "--expires");
    return withStore(context, "create", async (tenant) => {
      const optional = given({ actor, actAs, label, expires, operator });
      const { token, record } = await tenant.createToken({ scope, ...optional });
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({ token, record: toWire(ACCESS_TOKEN, record) });
        return EXIT.ok;
      }
      await terminal.print(token);
      if (terminal.interactive) {
        const revoke = commandLine(context, `token revoke ${record.id}`);
        terminal.note(`It is not shown again: keep it where secrets are kept. Undo: ${revoke}`);
      }
      return EXIT.ok;
    });
  },
});

function toNames(text: string | undefined): readonly string[] | "any" | undefined {
  if (text === undefined || text === "any") return text;
  const names = text.split(",").map((name) => name.trim());
  if (!names.includes("")) return names;
  throw usageError(`--act-as must be names with commas between them, or any`, "--act-as");
}
