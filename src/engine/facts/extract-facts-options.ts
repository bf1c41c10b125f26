/** Options and result of fact extraction. */

import type { FactExtractor } from "../../facts/fact-extractor.ts";
import type { FactHook } from "../../facts/prepare-facts.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { checkInput, invalid } from "../check.ts";
import type { FactPart } from "./fact-parts.ts";

export interface ExtractFactsOptions {
  /** The extractor. Default: a language model. */
  readonly extractor?: FactExtractor;
  /** The model's name. Default: `metadata.facts.model`, else `default`. */
  readonly model?: string;
  /** The host's filter of each fact, after ours: the fact to store, or null. */
  readonly redact?: FactHook;
  /** Called after each part, once it is stored. */
  readonly onPart?: (part: ExtractedPart) => void;
  readonly signal?: AbortSignal;
}

/** The result of one part of the conversation. */
export interface ExtractedPart extends Omit<FactPart, "entries"> {
  readonly added: number;
  /** Already known. */
  readonly duplicates: number;
  /** Withheld: secret, personal, or refused by the host. */
  readonly withheld: number;
  /** Proposals that contradict a current fact without a citation. */
  readonly unsupported: number;
  /** Not parsed. */
  readonly unread: number;
}

export function checkExtractOptions(options: ExtractFactsOptions): void {
  const { extractor, model, redact, onPart, signal } = checkInput(
    options,
    "options",
    INPUTS.extractFacts,
  );
  const check = (field: string, isGood: boolean, what: string) => {
    if (!isGood) throw invalid(field, `${field} must be ${what}`);
  };
  const isExtractor = typeof extractor === "object" && typeof extractor?.extract === "function";
  check("extractor", extractor === undefined || isExtractor, "an object with name and extract");
  if (model !== undefined) checkName(model, "model");
  check("redact", redact === undefined || typeof redact === "function", "a function");
  check("onPart", onPart === undefined || typeof onPart === "function", "a function");
  check("signal", signal === undefined || signal instanceof AbortSignal, "an AbortSignal");
}
