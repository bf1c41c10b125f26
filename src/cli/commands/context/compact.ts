import { toWireCompaction } from "../../../api/context.ts";
import { maskEntry, maskText } from "../../../api/mask.ts";
import type { CompactionPlan } from "../../../compaction/plan.ts";
import type { CompactionResult } from "../../../engine/context/compact.ts";
import type { KeepInput } from "../../../engine/context/compact-options.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { withStore } from "../../store.ts";
import { given, toChoice, toCount } from "../../values.ts";
import { SUMMARIZER_OPTIONS, toSummarizerInput } from "./summarizer-options.ts";

export const compact: Command = defineCommand({
  name: "compact",
  aliases: ["compact_conversation"],
  summary: "Summarise the older part of a session into an entry that stands for it.",
  details:
    "Nothing is removed: the log keeps every message, and search still finds them. What the model is given begins with the summary from now on. No tool call is parted from its result, pinned entries and an unanswered turn stay. Exits with 1 if there is nothing to compact.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    "keep-messages": { type: "string", value: "N", help: "Keep the last N messages as they are." },
    "keep-tokens": {
      type: "string",
      value: "N",
      help: "Keep the newest messages that take N tokens together; 20,000 if nothing is said.",
    },
    keep: {
      type: "string",
      value: "WHAT",
      help: "half (the newer half), none, or seed (4 messages, if there are 10,000 tokens).",
    },
    "limit-tokens": {
      type: "string",
      value: "N",
      help: "What the context may take afterwards; long tool results are shown shortened.",
    },
    strategy: {
      type: "string",
      value: "NAME",
      help: "rolling (one summary, written anew) or hierarchical (summaries of summaries).",
    },
    ...SUMMARIZER_OPTIONS,
    "dry-run": { type: "boolean", help: "Only say what would be covered and kept." },
  },
  examples: ["compact 5f0c2a91 --keep-messages 1", "compact 5f0c2a91 --keep none --dry-run"],
  run: (context, args, options) =>
    withStore(context, options["dry-run"] ? "read" : "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const input = {
        ...given({
          keep: toKeep(options),
          limitTokens: toCount(options["limit-tokens"], "--limit-tokens"),
          strategy: toChoice(options.strategy, ["rolling", "hierarchical"] as const, "--strategy"),
        }),
        ...toSummarizerInput(options),
      };
      if (!options["dry-run"]) {
        await print(context, await handle.compact(input));
        return EXIT.ok;
      }
      await printPlan(context, await handle.planCompaction(input));
      return EXIT.ok;
    }),
});

function toKeep(options: {
  readonly "keep-messages"?: string;
  readonly "keep-tokens"?: string;
  readonly keep?: string;
}): KeepInput | undefined {
  const given = [options["keep-messages"], options["keep-tokens"], options.keep];
  if (given.filter((value) => value !== undefined).length > 1) {
    throw usageError("give one of --keep, --keep-messages and --keep-tokens", "--keep");
  }
  const messages = toCount(options["keep-messages"], "--keep-messages");
  if (messages !== undefined) return { messages };
  const tokens = toCount(options["keep-tokens"], "--keep-tokens");
  if (tokens !== undefined) return { tokens };
  return toChoice(options.keep, ["half", "none", "seed"] as const, "--keep");
}

async function print(context: Context, result: CompactionResult): Promise<void> {
  const { terminal } = context;
  const { entry, removed, tokensBefore, tokensAfter } = result;
  if (context.json) {
    const masked = { ...result, entry: entry === null ? null : maskEntry(entry) };
    await terminal.printJson(toWireCompaction(masked));
    return;
  }
  if (entry === null) {
    await terminal.print("Too little to compact; nothing was changed.");
    return;
  }
  await terminal.print(
    `Compacted ${counted(removed, "message")}: ${formatCount(tokensBefore)} tokens became ${formatCount(tokensAfter)}.`,
  );
  await terminal.print();
  for (const block of entry.blocks) {
    if (block.type === "text") await terminal.print(maskText(block.text));
  }
}

async function printPlan(context: Context, plan: CompactionPlan | null): Promise<void> {
  const { terminal } = context;
  if (context.json) {
    await terminal.printJson({
      covered: plan?.covered ?? [],
      pinned: plan?.pinned ?? [],
      first_kept_entry_id: plan?.firstKeptEntryId ?? null,
      through_sequence: plan?.throughSequence ?? null,
      split_turn: plan?.splitTurn ?? false,
      shortened: plan?.cuts.length ?? 0,
      tokens_before: plan?.tokensBefore ?? 0,
      tokens_after: plan?.tokensAfter ?? 0,
    });
    return;
  }
  if (plan === null) {
    await terminal.print("Too little to compact.");
    return;
  }
  const { covered, pinned, cuts, tokensBefore, tokensAfter, throughSequence } = plan;
  await terminal.print(
    `Would compact ${counted(covered.length, "message")}, up to entry ${throughSequence} of the log: ${formatCount(tokensBefore)} tokens would become about ${formatCount(tokensAfter)}.`,
  );
  if (pinned.length > 0) await terminal.print(`Pinned, and kept: ${pinned.length}`);
  if (cuts.length > 0) await terminal.print(`Tool results shown shortened: ${cuts.length}`);
}
