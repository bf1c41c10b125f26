import { toWire } from "../../../api/shape.ts";
import { ACCESS_TOKEN, type AccessToken } from "../../../model/access.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable, formatTime } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const tokenList: Command = defineCommand({
  name: "token list",
  summary: "List the tenant's access tokens, also those that have expired or were revoked.",
  options: {
    limit: {
      type: "string",
      value: "N",
      help: "Tokens on a page: at most 500, which is the default.",
    },
    cursor: { type: "string", value: "TOKEN", help: "Go on after the token with this id." },
  },
  examples: ["token list --tenant acme"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit") ?? MAX_PAGE;
      const tokens = await tenant.listTokens({ limit, ...given({ after: options.cursor }) });
      const next = tokens.length < limit ? null : (tokens.at(-1)?.id ?? null);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          tokens: toWire([ACCESS_TOKEN], tokens),
          next_cursor: next,
        });
        return EXIT.ok;
      }
      if (tokens.length === 0) {
        await terminal.print("No tokens.");
        return EXIT.ok;
      }
      const header = ["TOKEN", "SCOPE", "STATE", "EXPIRES", "ACTOR", "ACT AS", "LABEL"];
      const rows = tokens.map(toRow);
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      if (next !== null)
        terminal.note(`More: ${commandLine(context, `token list --cursor ${next}`)}`);
      return EXIT.ok;
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
