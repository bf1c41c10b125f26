/** Extracts facts with a language model. */

import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import type { TextModel } from "../model/models.ts";
import {
  cleanStatement,
  type FactAnswer,
  type FactExtractor,
  type FactRequest,
  type ProposedFact,
} from "./fact-extractor.ts";
import { factPrompt } from "./fact-prompt.ts";
import { DEFAULT_CONFIDENCE } from "./prepare-facts.ts";

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

/** The facts of an answer, in order. `unread` counts malformed ones. */
export function parseFacts(answer: string): FactAnswer {
  const { values, broken } = findJsonValues(answer);
  const facts: ProposedFact[] = [];
  let unread = broken;
  for (const value of values.flatMap(statementsIn)) {
    const fact = toFact(value);
    if (fact === undefined) unread++;
    else facts.push(fact);
  }
  return { facts, unread };
}

/** Whether an answer states in the requested form that there is no fact. */
export function saysNothing(answer: string): boolean {
  const { values, broken } = findJsonValues(answer);
  return broken === 0 && values.length > 0 && values.flatMap(statementsIn).length === 0;
}

/** A list, or an object that holds one under any name, such as `{"facts": […]}`. */
function statementsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => (Array.isArray(item) ? item : [item]));
  if (!isPlainObject(value) || "subject" in value) return [value];
  const lists = Object.values(value).filter(Array.isArray);
  return lists.length > 0 ? lists.flat() : Object.keys(value).length === 0 ? [] : [value];
}

function toFact(value: unknown): ProposedFact | undefined {
  if (!isPlainObject(value)) return undefined;
  const subject = cleanStatement(value["subject"]);
  const predicate = cleanStatement(value["predicate"]);
  const object = cleanStatement(value["object"]);
  if (subject === undefined || predicate === undefined || object === undefined) return undefined;
  return {
    subject,
    predicate,
    object,
    confidence: toConfidence(value["confidence"]),
    entryId: toEntryId(value["entry"]),
    ...(value["many"] === true || value["many"] === "true" ? { many: true } : {}),
  };
}

const WORDS: Readonly<Record<string, number>> = { high: 0.9, medium: 0.6, low: 0.3 };

function toConfidence(value: unknown): number {
  if (typeof value === "string") {
    const word = WORDS[value.trim().toLowerCase()];
    if (word !== undefined) return word;
  }
  const number = typeof value === "string" ? Number.parseFloat(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return DEFAULT_CONFIDENCE;
  // Some models use per cent.
  const share = number > 1 && number <= 100 ? number / 100 : number;
  return Math.min(1, Math.max(0, share));
}

/** `3`, `"3"`, `"[3]"` and `["3"]` all name the third entry. */
function toEntryId(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first === "number") return String(first);
  if (typeof first !== "string") return null;
  const id = first.replace(/^[\s[#]+/, "").replace(/(?<![\s\]])[\s\]]+$/, "");
  return id === "" ? null : id;
}

/**
 * Finds JSON values in a model's answer.
 *
 * Models put JSON into code fences, add sentences, leave trailing commas, give one object per line,
 * or are cut off. Everything readable is used.
 */

interface JsonValues {
  readonly values: readonly unknown[];
  /** The number of unreadable values. */
  readonly broken: number;
}

/**
 * The objects and arrays of `text`, outermost first. An unreadable array gives the objects in it.
 * Linear in the text's length.
 */
function findJsonValues(text: string): JsonValues {
  const values: unknown[] = [];
  let broken = 0;
  let at = 0;
  let looks = 0;
  while (at < text.length && looks < MAX_LOOKS) {
    const start = nextOpening(text, at);
    if (start < 0) break;
    const end = closingOf(text, start);
    const value = end < 0 ? undefined : parse(text.slice(start, end + 1));
    if (value !== undefined) {
      values.push(value);
      at = end + 1;
      continue;
    }
    looks++;
    const isList = text[start] === "[";
    if (!isList) broken++;
    // Elements of a broken list may be complete; the parts of a broken object are not trusted.
    at = isList || end < 0 ? start + 1 : end + 1;
  }
  return { values, broken };
}

/** Failed attempts before giving up: each may scan to the end of the text. */
const MAX_LOOKS = 100;

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{" || text[at] === "[") return at;
  }
  return -1;
}

/** The closing bracket of the one at `start`, ignoring strings; -1 if missing. */
function closingOf(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      depth--;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(withoutTrailingCommas(text));
    } catch {
      return undefined;
    }
  }
}

/** `text` without trailing commas, ignoring strings, also one without an end. */
function withoutTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])/gs, (_, string?: string) => string ?? "");
}
