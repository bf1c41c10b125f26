import { toInput } from "../input-options.ts";
/** Options of the commands that write a summary. */

import { maskEntry, maskText } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import type { CompactionPlan } from "../../../compaction/plan.ts";
import type { CompactionResult } from "../../../engine/compaction/compact.ts";
import type { CompactInput, KeepInput } from "../../../engine/compaction/compact-options.ts";
import { COMPACTION_RESULT, SUMMARY } from "../../../model/answers/context.ts";
import { COMPACTION } from "../../../model/compaction-numbers.ts";
import { defined } from "../../../model/defined.ts";
import { SUMMARIZERS } from "../../../model/inputs/choices.ts";
import { type Command, defineCommand, flag, option, SESSION, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { counted, formatCount, formatTime } from "../../print.ts";
import { printList } from "../../print-list.ts";
import { withSession } from "../../store.ts";
import { toChoice, toCount } from "../../values.ts";

const SUMMARIZER_OPTIONS = {
  summarizer: option("NAME", "mechanical, which needs no model, or model."),
  model: option("NAME", "Which model, if there are several."),
  fallback: flag(
    "Use the mechanical summary if the model's is rejected. Otherwise nothing changes.",
  ),
  instructions: option(
    "TEXT",
    "Instructions to the model that writes the summary; not for a mechanical one.",
  ),
  profile: option(
    "NAME",
    "How a mechanical summary is written: rich (with commands, files and citations) or claw (as claw-code does).",
  ),
};

function toSummarizer({
  summarizer,
  fallback,
}: {
  readonly summarizer?: string;
  readonly fallback?: boolean;
}): Pick<CompactInput, "summarizer" | "fallback"> {
  return defined({
    summarizer: toChoice(summarizer, SUMMARIZERS, "--summarizer"),
    fallback: fallback ? ("mechanical" as const) : undefined,
  });
}

export const compact: Command = defineCommand({
  name: "compact",
  aliases: ["compact_conversation"],
  summary: "Summarise the older part of a session into an entry that replaces it in contexts.",
  details:
    "Nothing is removed: the log keeps every message, and search still finds them. Contexts begin with the summary from now on. Tool calls keep their results; pinned entries and an unanswered turn stay. Exits with 1 if there is nothing to compact.",
  arguments: [SESSION],
  options: {
    keep: option(
      "WHAT",
      `The messages that stay verbatim: half (the newer half), none, messages=N (the last N), or tokens=N (the newest that take N together); tokens=${COMPACTION.keepTokens} if left out.`,
    ),
    preset: option(
      "NAME",
      `claw, in place of --keep: as claw-code does. claw,messages=${COMPACTION.claw.messages},tokens=${COMPACTION.claw.tokens} has its two numbers: the kept messages, and the minimum of tokens.`,
    ),
    "limit-tokens": option(
      "N",
      "The limit of the context afterwards, in tokens; long tool results are shown shortened.",
    ),
    strategy: option(
      "NAME",
      "rolling (one summary, rewritten) or hierarchical (summaries of summaries).",
    ),
    ...SUMMARIZER_OPTIONS,
    "dry-run": flag("Only show the covered and kept entries."),
  },
  examples: ["compact 5f0c2a91 --keep messages=1", "compact 5f0c2a91 --keep none --dry-run"],
  run: (context, args, options) =>
    withSession(context, options["dry-run"] ? "read" : "write", args.SESSION, async (handle) => {
      const input = {
        ...defined({ keep: toKeep(options.keep), preset: toPreset(options.preset) }),
        ...toInput("compact", options),
        ...toSummarizer(options),
      };
      if (options["dry-run"]) await printPlan(context, await handle.planCompaction(input));
      else await print(context, await handle.compact(input));
    }),
});

function toKeep(text: string | undefined): KeepInput | undefined {
  if (text === undefined || text === "half" || text === "none") return text;
  const [name = "", number] = text.split("=", 2);
  if (number !== undefined && name === "messages") return { messages: numberOf(number, "--keep") };
  if (number !== undefined && name === "tokens") return { tokens: numberOf(number, "--keep") };
  throw usageError(`--keep must be half, none, messages=N or tokens=N, not "${text}"`, "--keep");
}

function toPreset(text: string | undefined): CompactInput["preset"] {
  if (text === undefined) return undefined;
  const [name, ...numbers] = text.split(",");
  const preset: { name: "claw"; messages?: number; tokens?: number } = { name: "claw" };
  for (const part of numbers) {
    const [field = "", number = ""] = part.split("=", 2);
    if (field !== "messages" && field !== "tokens") throw wrongPreset(text);
    preset[field] = numberOf(number, "--preset");
  }
  if (name !== "claw") throw wrongPreset(text);
  return preset;
}

function wrongPreset(text: string): Error {
  const forms = "claw, with messages=N and tokens=N after commas if need be";
  return usageError(`--preset must be ${forms}, not "${text}"`, "--preset");
}

function numberOf(text: string, option: string): number {
  return toCount(text, option) ?? 0;
}

async function print(context: Context, result: CompactionResult): Promise<void> {
  const { terminal } = context;
  const { entry, removed, tokensBefore, tokensAfter } = result;
  if (context.json) {
    const masked = {
      ...result,
      entry: entry === null ? null : maskEntry(entry),
      summary: result.summary === null ? null : maskText(result.summary),
    };
    await terminal.printJson(toWire(COMPACTION_RESULT, masked));
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

export const summarize: Command = defineCommand({
  name: "summarize",
  summary: "Write a summary of a session beside the conversation.",
  details:
    "Contexts do not change; compact changes them. It covers the messages after the last compaction and includes its summary. Secrets are masked in the output. Exits with 1 if there is nothing to summarise.",
  arguments: [SESSION],
  options: {
    through: option("ENTRY", "The last entry to cover; the newest if left out."),
    ...SUMMARIZER_OPTIONS,
  },
  examples: ["summarize 5f0c2a91"],
  run: (context, args, options) =>
    withSession(context, "write", args.SESSION, async (handle) => {
      const written = await handle.summarize(options.through, {
        ...toInput("summarize", options),
        ...toSummarizer(options),
      });
      const summary = { ...written, text: maskText(written.text) };
      if (context.json) await context.terminal.printJson(toWire(SUMMARY, summary));
      else await context.terminal.print(summary.text);
    }),
});

export const summaries: Command = defineCommand({
  name: "summaries",
  summary: "List every summary of a session, compactions included, and which of them are stale.",
  details:
    "A summary is stale if a covered message was edited or regenerated since. Open one with show. Secrets are masked.",
  arguments: [SESSION],
  examples: ["summaries 5f0c2a91"],
  run: (context, args) =>
    withSession(context, "read", args.SESSION, async (handle) => {
      const written = await handle.summaries();
      const all = written.map((summary) => ({ ...summary, text: maskText(summary.text) }));
      return printList(context, {
        json: { summaries: toWire([SUMMARY], all) },
        header: ["SUMMARY", "KIND", "WRITTEN", "TOKENS", "", "TEXT"],
        rows: all.map(({ id, kind, createdAt, tokens, stale, text }) => [
          id,
          kind,
          formatTime(createdAt),
          String(tokens),
          stale ? "stale" : "",
          text,
        ]),
        none: "No summaries.",
      });
    }),
});
