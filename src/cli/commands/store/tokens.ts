import { toWire } from "../../../api/shape.ts";
import { ACCESS_TOKEN, type AccessToken } from "../../../model/access.ts";
import { defined } from "../../../model/defined.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { formatTime } from "../../print.ts";
import { printList } from "../../print-list.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { toInput } from "../input-options.ts";

export const tokenCreate: Command = defineCommand({
  name: "token create",
  summary: "Create an access token for callers of the server.",
  details:
    "The token is printed once; only its hash is stored. Tenant and actor come from the token, never from the request.",
  options: {
    scope: option("SCOPE", "Required: read, write or admin; each includes the ones before."),
    actor: option("NAME", "The actor of its writes."),
    "act-as": option(
      "LIST",
      "Further actors that it may write as: names separated by commas, or any.",
    ),
    expires: option("WHEN", "Its expiry: in 12h, 30d or 8w, or a date; never if left out."),
    label: option("TEXT", "A name for the list."),
    operator: flag(
      "Permits copying, restoring and verifying the whole store, of every tenant. Only with --scope admin.",
    ),
  },
  examples: [
    "token create --scope read --expires 30d",
    'token create --tenant acme --scope write --actor ci --act-as ana,ben --label "build server"',
    "token create --scope admin --operator",
  ],
  run: (context, _args, options) => {
    const { scope, ...optional } = toInput("createToken", options);
    if (scope === undefined) {
      throw usageError("token create needs --scope read, write or admin", "--scope");
    }
    const actAs = toNames(options["act-as"]);
    return withStore(context, "create", async (tenant) => {
      const input = { scope, ...optional, ...defined({ actAs }) };
      const { token, record } = await tenant.createToken(input);
      const { terminal } = context;
      if (context.json) return terminal.printJson({ token, record: toWire(ACCESS_TOKEN, record) });
      await terminal.print(token);
      if (terminal.interactive) {
        const revoke = commandLine(context, `token revoke ${record.id}`);
        terminal.note(`It is not shown again: keep it where secrets are kept. Undo: ${revoke}`);
      }
    });
  },
});

function toNames(text: string | undefined): readonly string[] | "any" | undefined {
  if (text === undefined || text === "any") return text;
  const names = text.split(",").map((name) => name.trim());
  if (!names.includes("")) return names;
  throw usageError(`--act-as must be names with commas between them, or any`, "--act-as");
}

export const tokenList: Command = defineCommand({
  name: "token list",
  summary: "List the tenant's access tokens, also those that have expired or were revoked.",
  options: {
    limit: option("N", "Tokens on a page: at most 500, which is the default."),
    cursor: option("TOKEN", "Go on after the token with this id."),
  },
  examples: ["token list --tenant acme"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const input = toInput("listTokens", { ...options, after: options.cursor });
      const { limit = MAX_PAGE } = input;
      const tokens = await tenant.listTokens({ ...input, limit });
      const next = tokens.length < limit ? null : (tokens.at(-1)?.id ?? null);
      return printList(context, {
        json: { tokens: toWire([ACCESS_TOKEN], tokens), next_cursor: next },
        header: ["TOKEN", "SCOPE", "STATE", "EXPIRES", "ACTOR", "ACT AS", "LABEL"],
        rows: tokens.map(toRow),
        none: "No tokens.",
        more: next && `token list --cursor ${next}`,
      });
    }),
});

function toRow(token: AccessToken): string[] {
  const { id, scope, operator, expiresAt, actor, actAs, label } = token;
  return [
    id,
    operator ? `${scope}, operator` : scope,
    stateOf(token),
    expiresAt === null ? "never" : formatTime(expiresAt),
    actor ?? "–",
    actAs === "any" ? "any" : actAs.join(", ") || "–",
    label ?? "",
  ];
}

function stateOf({ revokedAt, expiresAt }: AccessToken): string {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= Date.now() ? "expired" : "valid";
}

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
    }),
});
