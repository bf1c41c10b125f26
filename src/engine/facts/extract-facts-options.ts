/** Options and result of fact extraction. */

import type { FactExtractor } from "../../facts/fact-extractor.ts";
import type { FactHook } from "../../facts/prepare-facts.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { checkInput } from "../check.ts";
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
  const { model } = checkInput(options, "options", INPUTS.extractFacts);
  if (model !== undefined) checkName(model, "model");
}
