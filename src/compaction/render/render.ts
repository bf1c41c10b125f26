/** Renders a summary as text; also the summarizer without a model. */

import type { Summarizer, SummaryStructure } from "../summary.ts";
import { renderClaw } from "./render-claw.ts";
import { renderRich } from "./render-rich.ts";

/** `claw`: claw-code's text in `<summary>` tags; `rich`: Markdown with ledger and citations. */
export const SUMMARY_PROFILES = ["rich", "claw"] as const;
export type SummaryProfile = (typeof SUMMARY_PROFILES)[number];

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
