import { toWireContext } from "../../../api/context.ts";
import { maskBlock } from "../../../api/mask.ts";
import { PROVIDERS, renderContext } from "../../../context/render/render.ts";
import type { BuiltContext } from "../../../engine/context/build-context.ts";
import { DEFAULT_CONTEXT_BUDGET, MIN_CONTEXT_BUDGET } from "../../../model/limits.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { formatBlocks } from "../../print-entry.ts";
import { withStore } from "../../store.ts";
import { given, toChoice, toCount } from "../../values.ts";

export const context: Command = defineCommand({
  name: "context",
  aliases: ["build_context"],
  summary: "Show the context for a model, under a token budget.",
  details:
    "Pinned entries, the summary, facts, older turns, recalled messages and the newest turn, in this order; over budget, recalled messages yield first, then facts, older turns and the summary, then parts of the newest turn are cut. Secrets are masked unless --raw is given. Exits with 2 if the pinned entries do not fit.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    budget: {
      type: "string",
      value: "N",
      help: `Tokens that all of it may take: at least ${MIN_CONTEXT_BUDGET}; ${DEFAULT_CONTEXT_BUDGET} if left out.`,
    },
    turns: {
      type: "string",
      value: "N",
      help: "The limit of verbatim turns; 20 if left out.",
    },
    recall: {
      type: "string",
      value: "N",
      help: "The limit of recalled messages; 8 if left out, 0: none.",
    },
    facts: { type: "boolean", help: "Add the session's facts." },
    participants: {
      type: "string",
      value: "NAMES",
      help: "Only messages of these actors, separated by commas.",
    },
    leaf: { type: "string", value: "ENTRY", help: "The path to this entry, not the active one." },
    provider: {
      type: "string",
      value: "NAME",
      help: `Print the request for this provider, as JSON: ${PROVIDERS.join(", ")}.`,
    },
    full: { type: "boolean", help: "Show everything in full." },
    raw: { type: "boolean", help: "Show secrets too." },
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
        ...given({
          recentTurns: toCount(options.turns, "--turns"),
          semanticRecall: k === undefined ? undefined : k === 0 ? (false as const) : { k },
          includeFacts: options.facts,
          filterParticipants: options.participants?.split(",").map((name) => name.trim()),
          leaf: options.leaf,
        }),
      });
      const shown = options.raw ? built : mask(built);
      const { terminal } = cli;
      if (provider !== undefined) {
        await terminal.printJson(renderContext(shown.messages, provider));
        return EXIT.ok;
      }
      if (cli.json) {
        await terminal.printJson(toWireContext(shown));
        return EXIT.ok;
      }
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
      return EXIT.ok;
    }),
});

function mask(built: BuiltContext): BuiltContext {
  return {
    ...built,
    messages: built.messages.map((message) => ({
      ...message,
      blocks: message.blocks.map(maskBlock),
    })),
  };
}
