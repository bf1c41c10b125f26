/** Parses the proposed facts from a model's answer. Never throws on untrusted text. */

import { isPlainObject } from "../model/json.ts";
import { cleanStatement } from "./clean-statement.ts";
import type { FactAnswer, ProposedFact } from "./fact-extractor.ts";
import { findJsonValues } from "./json-values.ts";
import { DEFAULT_CONFIDENCE } from "./prepare-facts.ts";

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
