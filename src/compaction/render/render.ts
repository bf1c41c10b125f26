/** Renders a summary as text; also the summarizer without a model. */

import type { SummaryProfile } from "../../model/inputs/choices.ts";
import type { Summarizer, SummaryStructure } from "../summary.ts";
import { renderClaw } from "./render-claw.ts";
import { renderRich } from "./render-rich.ts";

export type { SummaryProfile } from "../../model/inputs/choices.ts";

/** Always below `MAX_SUMMARY_BYTES`. */
export function renderSummary(structure: SummaryStructure, profile: SummaryProfile): string {
  return profile === "claw" ? renderClaw(structure) : renderRich(structure);
}

/** Deterministic, without a model. */
export function mechanicalSummarizer(profile: SummaryProfile): Summarizer {
  return {
    name: `mechanical-${profile}`,
    summarize: async ({ structure, signal }) => {
      signal?.throwIfAborted();
      return { text: renderSummary(structure, profile), model: null, finishReason: "stop" };
    },
  };
}
