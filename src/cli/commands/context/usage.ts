import { toWire } from "../../../api/shape.ts";
import { toWirePrices } from "../../../api/stats.ts";
import { CONTEXT_USAGE } from "../../../model/answers/context.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, formatDollars } from "../../print.ts";
import { withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";

export const usage: Command = defineCommand({
  name: "usage",
  summary: "Show a session's context size, tokens and cost.",
  details:
    "The context size is the provider's report of the last call, cache included, plus an estimate of later messages. The billed tokens are the sum of all calls, and do not measure the context. The cost is theirs by list prices, as in stats; sub-agents are sessions of their own.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    leaf: { type: "string", value: "ENTRY", help: "The path to this entry, not the active one." },
  },
  examples: ["usage 5f0c2a91"],
  run: (context, args, options) =>
    withStore(context, "read", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const figures = await handle.usage(options.leaf);
      const { total, prices } = await tenant.stats({ session: handle.id });
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          ...toWire(CONTEXT_USAGE, figures),
          cost_microusd: total.costMicroUsd,
          prices: toWirePrices(prices),
        });
        return EXIT.ok;
      }
      const { contextTokens, estimatedTokens, estimated, billed, compaction } = figures;
      const how = estimated
        ? "estimated: no provider reported any"
        : `of which ${formatCount(estimatedTokens)} estimated`;
      await terminal.print(`Context      ${formatCount(contextTokens)} tokens (${how})`);
      await terminal.print(`Compacted    ${compaction ?? "never"}`);
      const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = billed;
      await terminal.print(
        `Billed       ${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out,`,
      );
      await terminal.print(
        `             ${formatCount(cacheCreationTokens)} cache written, ${formatCount(cacheReadTokens)} cache read`,
      );
      const cost = `${formatDollars(total.costMicroUsd)} by list prices of ${prices.asOf}`;
      const unknown = prices.unknown.map(oneLine).join(", ");
      await terminal.print(`Cost         ${cost}${unknown === "" ? "" : `, without ${unknown}`}`);
      return EXIT.ok;
    }),
});
