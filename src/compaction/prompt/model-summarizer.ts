/** Writes summaries with a language model and checks its answers. */

import type { TextModel } from "../../model/models.ts";
import type { CitedText, Summarizer, SummaryRequest } from "../summary.ts";
import { checkSummary } from "./check-summary.ts";
import { type SummaryDemands, summaryPrompt } from "./summary-prompt.ts";

/** English has about three words per four tokens. */
const WORDS_A_TOKEN = 0.75;
/** Room for a summary that is a little longer than requested. */
const MAX_OUTPUT_TOKENS = 4_000;

export function modelSummarizer(model: TextModel): Summarizer {
  return {
    name: `model-${model.name}`,
    needsEntries: true,
    ...(model.maxInputTokens === undefined ? {} : { maxInputTokens: model.maxInputTokens }),
    summarize: async (request) => {
      const { signal } = request;
      const { text, finishReason } = await model.generate({
        ...summaryPrompt(request, demandsOf(request)),
        maxOutputTokens: MAX_OUTPUT_TOKENS,
        ...(signal === undefined ? {} : { signal }),
      });
      return { text, finishReason, model: model.name };
    },
    check: (answer, request) => checkSummary(answer, request, demandsOf(request)),
  };
}

function demandsOf(request: SummaryRequest): SummaryDemands {
  const { maxTokens } = request;
  const pending = openRequests(request);
  return maxTokens === undefined
    ? { pending }
    : { pending, maxWords: Math.max(50, Math.floor(maxTokens * WORDS_A_TOKEN)) };
}

/** The user's requests with pending work, and the current one. */
function openRequests({ structure, splitTurn }: SummaryRequest): readonly CitedText[] {
  const left = new Set(structure.pending.map(({ entryId }) => entryId));
  const newest = structure.requests.at(-1)?.entryId;
  return structure.requests.filter(
    ({ entryId }) => left.has(entryId) || (splitTurn && entryId === newest),
  );
}
