/** A summary as text, and the summarizer that needs no model: it writes down the structure. */

import type { Summarizer, SummaryStructure } from "../summary.ts";
import { renderRich } from "./render-rich.ts";
import { renderSeed } from "./render-seed.ts";

/**
 * `seed` is claw-code's text in its `<summary>` tags; `rich` is Markdown with ledger and citations.
 */
export type SummaryProfile = "seed" | "rich";

/** The text of any structure that a digest made stays below `MAX_SUMMARY_BYTES`. */
export function renderSummary(structure: SummaryStructure, profile: SummaryProfile): string {
  return profile === "seed" ? renderSeed(structure) : renderRich(structure);
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
