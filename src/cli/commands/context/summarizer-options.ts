/** Options of the commands that write a summary. */

import type { CompactInput } from "../../../engine/compaction/compact-options.ts";
import { SUMMARIZERS, SUMMARY_PROFILES } from "../../../model/inputs/choices.ts";
import type { OptionSpec } from "../../option-spec.ts";
import { given, toChoice } from "../../values.ts";

export const SUMMARIZER_OPTIONS: {
  readonly summarizer: StringOption;
  readonly model: StringOption;
  readonly fallback: BooleanOption;
  readonly instructions: StringOption;
  readonly profile: StringOption;
} = {
  summarizer: {
    type: "string",
    value: "NAME",
    help: "mechanical, which needs no model, or model.",
  },
  model: { type: "string", value: "NAME", help: "Which model, if there are several." },
  fallback: {
    type: "boolean",
    help: "Use the mechanical summary if the model's is rejected. Otherwise nothing changes.",
  },
  instructions: {
    type: "string",
    value: "TEXT",
    help: "Instructions to the model that writes the summary; not for a mechanical one.",
  },
  profile: {
    type: "string",
    value: "NAME",
    help: "How a mechanical summary is written: rich (with commands, files and citations) or claw (as claw-code does).",
  },
};

type StringOption = OptionSpec & { readonly type: "string" };
type BooleanOption = OptionSpec & { readonly type: "boolean" };

interface Values {
  readonly summarizer?: string;
  readonly model?: string;
  readonly fallback?: boolean;
  readonly instructions?: string;
  readonly profile?: string;
}

export function toSummarizerInput(
  options: Values,
): Pick<CompactInput, "summarizer" | "model" | "fallback" | "instructions" | "profile"> {
  const { summarizer, model, instructions, profile, fallback } = options;
  return given({
    summarizer: toChoice(summarizer, SUMMARIZERS, "--summarizer"),
    profile: toChoice(profile, SUMMARY_PROFILES, "--profile"),
    model,
    instructions,
    fallback: fallback ? ("mechanical" as const) : undefined,
  });
}
