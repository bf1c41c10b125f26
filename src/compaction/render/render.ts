/** A summary as text, and the summarizer that needs no model: it writes down the structure. */

import type { Summarizer, SummaryStructure } from "../summary.ts";
import { renderClaw } from "./render-claw.ts";
import { renderRich } from "./render-rich.ts";

/**
 * `claw` is claw-code's text in its `<summary>` tags; `rich` is Markdown with ledger and citations.
 */
export const SUMMARY_PROFILES = ["rich", "claw"] as const;
export type SummaryProfile = (typeof SUMMARY_PROFILES)[number];

/** The text of any structure that a digest made stays below `MAX_SUMMARY_BYTES`. */
export function renderSummary(structure: SummaryStructure, profile: SummaryProfile): string {
  return profile === "claw" ? renderClaw(structure) : renderRich(structure);
}

/** Always the same answer for the same structure, at once and without a model. */
export function mechanicalSummarizer(profile: SummaryProfile): Summarizer {
  return {
    name: `mechanical-${profile}`,
    summarize: async ({ structure, signal }) => {
      signal?.throwIfAborted();
      return { text: renderSummary(structure, profile), model: null, finishReason: "stop" };
    },
  };
}
