import { toWireContext, toWireRecalled } from "../../../api/context.ts";
import { maskBlock, maskEntry, maskFact } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { toWirePrices } from "../../../api/stats.ts";
import { holdNotes } from "../../../api/text/later.ts";
import { PROVIDERS, renderContext } from "../../../context/render/render.ts";
import type { BuiltContext } from "../../../engine/context/build-context.ts";
import type { Recalled } from "../../../engine/context/recall.ts";
import { CONTEXT_USAGE } from "../../../model/answers/context.ts";
import { defined } from "../../../model/defined.ts";
import { DEFAULT_CONTEXT_BUDGET, MIN_CONTEXT_BUDGET } from "../../../model/limits.ts";
import { type Command, defineCommand, flag, option, SESSION, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount, formatDollars } from "../../print.ts";
import { formatBlocks, formatEntry } from "../../print-session.ts";
import { withSession, withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";
import { toChoice, toCount } from "../../values.ts";
import { toInput } from "../input-options.ts";

export const context: Command = defineCommand({
  name: "context",
  aliases: ["build_context"],
  summary: "Show the context for a model, under a token budget.",
  details:
    "Pinned entries, the summary, facts, older turns, rules, recalled messages and the newest turn, in this order; over budget, recalled messages yield first, then facts, older turns, rules and the summary, then parts of the newest turn are cut. Secrets are masked unless --raw is given. Exits with 2 if the pinned entries do not fit.",
  arguments: [SESSION],
  options: {
    budget: option(
      "N",
      `Tokens that all of it may take: at least ${MIN_CONTEXT_BUDGET}; ${DEFAULT_CONTEXT_BUDGET} if left out.`,
    ),
    turns: option("N", "The limit of verbatim turns; 20 if left out."),
    recall: option("N", "The limit of recalled messages; 8 if left out, 0: none."),
    facts: flag("Add the session's facts."),
    rules: flag("Add the rules in force, and the candidates of this session."),
    participants: option("NAMES", "Only messages of these actors, separated by commas."),
    leaf: option("ENTRY", "The path to this entry, not the active one."),
    provider: option(
      "NAME",
      `Print the request for this provider, as JSON: ${PROVIDERS.join(", ")}.`,
    ),
    full: flag("Show everything in full."),
    raw: flag("Show secrets too."),
  },
  examples: [
    "context 5f0c2a91 --budget 8000",
    "context 5f0c2a91 --budget 8000 --provider anthropic",
  ],
  run: (cli, args, options) =>
    withStore(cli, "read", async (tenant) => {
      const tokenBudget = toCount(options.budget, "--budget") ?? DEFAULT_CONTEXT_BUDGET;
      if (tokenBudget < MIN_CONTEXT_BUDGET) {
        const least = `--budget must be at least ${MIN_CONTEXT_BUDGET}, not ${tokenBudget}`;
        throw usageError(least, "--budget");
      }
      const provider = toChoice(options.provider, PROVIDERS, "--provider");
      const k = toCount(options.recall, "--recall");
      const handle = await tenant.getSession(args.SESSION);
      const built = await handle.buildContext({
        tokenBudget,
        ...defined({
          recentTurns: toCount(options.turns, "--turns"),
          semanticRecall: k === undefined ? undefined : k === 0 ? (false as const) : { k },
          includeFacts: options.facts,
          rules: options.rules,
          filterParticipants: options.participants?.split(",").map((name) => name.trim()),
          leaf: options.leaf,
        }),
      });
      const shown = options.raw ? built : maskContext(built);
      const { terminal } = cli;
      if (provider !== undefined) {
        await terminal.printJson(renderContext(shown.messages, provider));
        return EXIT.ok;
      }
      if (cli.json) return terminal.printJson(toWireContext(shown));
      for (const message of shown.messages) {
        const who = message.actor === null ? message.role : `${message.role} ${message.actor}`;
        await terminal.print(terminal.bold(`${message.part} · ${who}`));
        const lines = formatBlocks(message.blocks, terminal, options.full ?? false);
        for (const line of lines) await terminal.print(line);
        await terminal.print();
      }
      await terminal.print(
        `${formatCount(shown.tokens)} of ${formatCount(tokenBudget)} tokens, ${counted(shown.messages.length, "message")}.`,
      );
      for (const { part, reason, count } of shown.omitted) {
        const why = reason === "budget" ? "they do not fit" : "newer turns fill the limit";
        await terminal.print(`Left out: ${formatCount(count)} of ${part}, because ${why}.`);
      }
    }),
});

function maskContext(built: BuiltContext): BuiltContext {
  return {
    ...built,
    messages: built.messages.map((message) => ({
      ...message,
      blocks: message.blocks.map(maskBlock),
    })),
  };
}

export const usage: Command = defineCommand({
  name: "usage",
  summary: "Show a session's context size, tokens and cost.",
  details:
    "The context size is the provider's report of the last call, cache included, plus an estimate of later messages. The billed tokens are the sum of all calls, and do not measure the context. The cost is theirs by list prices, as in stats; sub-agents are sessions of their own.",
  arguments: [SESSION],
  options: {
    leaf: option("ENTRY", "The path to this entry, not the active one."),
  },
  examples: ["usage 5f0c2a91"],
  run: (context, args, options) =>
    withSession(context, "read", args.SESSION, async (handle, tenant) => {
      const figures = await handle.usage(options.leaf);
      const { total, prices } = await tenant.stats({ session: handle.id });
      const { terminal } = context;
      if (context.json)
        return terminal.printJson({
          ...toWire(CONTEXT_USAGE, figures),
          cost_microusd: total.costMicroUsd,
          prices: toWirePrices(prices),
        });
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
    }),
});

export const recall: Command = defineCommand({
  name: "recall",
  summary: "Find messages and facts of a session that match a question.",
  details: "Secrets are masked unless --raw is given. Exits with 1 if nothing is found.",
  arguments: [SESSION, { name: "QUESTION", rest: true, help: "Words or a whole question." }],
  options: {
    k: option("N", "The limit of results: at most 20; 8 if left out."),
    scope: option("SCOPE", "session (the default), owner (all sessions of its owner) or tenant."),
    full: flag("Show everything in full."),
    raw: flag("Show secrets too."),
  },
  examples: ["recall 5f0c2a91 why does the cron job run twice"],
  run: (context, args, options) =>
    withSession(context, "read", args.SESSION, async (handle) => {
      const found: Recalled[] = [];
      for await (const item of handle.recall(args.QUESTION, toInput("recall", options))) {
        found.push(options.raw ? item : maskRecalled(item));
      }
      const { terminal } = context;
      const code = found.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson({ recalled: found.map(toWireRecalled) });
        return code;
      }
      if (found.length === 0) await terminal.print("Nothing found.");
      const style = { full: options.full ?? false, labels: new Map<string, string>() };
      for (const item of found) {
        if (item.type === "fact") {
          const { subject, predicate, object } = item.fact;
          await terminal.print(`fact · ${subject} · ${predicate} · ${object}`);
        } else {
          for (const line of formatEntry(item.entry, terminal, style)) await terminal.print(line);
          for (const note of holdNotes(item, item.entry.sessionId)) {
            await terminal.print(`  ${terminal.dim(oneLine(note))}`);
          }
        }
        await terminal.print();
      }
      return code;
    }),
});

function maskRecalled(item: Recalled): Recalled {
  if (item.type === "fact") return { ...item, fact: maskFact(item.fact) };
  return { ...item, entry: maskEntry(item.entry) };
}
