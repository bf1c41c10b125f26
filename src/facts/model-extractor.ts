/** Extracts facts with a language model. */

import { BackscrollError } from "../model/errors.ts";
import type { TextModel } from "../model/text-model.ts";
import type { FactAnswer, FactExtractor, FactRequest, ProposedFact } from "./fact-extractor.ts";
import { factPrompt } from "./fact-prompt.ts";
import { parseFacts, saysNothing } from "./parse-answer.ts";

/** Some sixty facts: more would be a transcript. */
const MAX_OUTPUT_TOKENS = 4_000;

export function modelExtractor(model: TextModel): FactExtractor {
  return {
    name: `model-${model.name}`,
    ...(model.maxInputTokens === undefined ? {} : { maxInputTokens: model.maxInputTokens }),
    extract: (request) => extract(model, request),
  };
}

/**
 * Throws `model_failed` if an answer has no usable part. A truncated answer is asked for again in
 * halves.
 */
async function extract(model: TextModel, request: FactRequest): Promise<FactAnswer> {
  const { entries, signal } = request;
  const { text, finishReason } = await model.generate({
    ...factPrompt(request),
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    ...(signal === undefined ? {} : { signal }),
  });
  if (finishReason === "length" && entries.length > 1) {
    const middle = Math.ceil(entries.length / 2);
    const first = await extract(model, { ...request, entries: entries.slice(0, middle) });
    const second = await extract(model, { ...request, entries: entries.slice(middle) });
    return { facts: [...first.facts, ...second.facts], unread: first.unread + second.unread };
  }
  const { facts, unread } = parseFacts(text);
  if (facts.length === 0 && text.trim() !== "" && !saysNothing(text)) throw useless(model);
  // A filtered answer may be incomplete; an empty one with `stop` means none.
  if (finishReason !== "stop" && finishReason !== "length") throw useless(model, finishReason);
  return { facts: facts.map((fact) => cited(fact, request)), unread };
}

/** Maps the prompt's number to the entry's id. */
function cited(fact: ProposedFact, { entries }: FactRequest): ProposedFact {
  const index = Number(fact.entryId ?? Number.NaN) - 1;
  return { ...fact, entryId: entries[index]?.id ?? null };
}

function useless(model: TextModel, finishReason?: string): BackscrollError {
  const why =
    finishReason === undefined
      ? "there is no fact in its answer that could be read"
      : `it stopped with "${finishReason}"`;
  return new BackscrollError(
    "model_failed",
    `the model ${model.name} gave no facts: ${why}; try again, or use another model`,
    { details: { model: model.name, kind: finishReason ?? "nonsense" } },
  );
}
