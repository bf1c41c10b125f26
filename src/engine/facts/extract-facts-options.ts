/** Options and result of fact extraction. */

import type { FactExtractor } from "../../facts/fact-extractor.ts";
import { entryText, withoutInjectedText } from "../../facts/fact-prompt.ts";
import type { FactHook } from "../../facts/prepare-facts.ts";
import type { Entry } from "../../model/entry.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { checkInput } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";

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

export interface FactPart {
  /** The first and the last message of the part. */
  readonly from: string;
  readonly through: string;
  readonly messages: number;
  /** Their texts. */
  readonly entries: readonly Entry[];
}

/**
 * The limit of a part, for any model's window: in longer text, models overlook casual statements.
 */
const MAX_PART_TOKENS = 20_000;
/** The messages' share of the extractor's input; the rest is for rules and known facts. */
const MESSAGE_SHARE = 0.7;
const READ_ENTRIES = 64;

export async function* partsOf(
  engine: EngineContext,
  { maxInputTokens = Number.POSITIVE_INFINITY }: FactExtractor,
  ids: readonly string[],
): AsyncGenerator<FactPart> {
  const room = Math.min(MAX_PART_TOKENS, maxInputTokens * MESSAGE_SHARE);
  let read: string[] = [];
  let entries: Entry[] = [];
  let tokens = 0;
  const part = (): FactPart => {
    return { from: read[0] ?? "", through: read.at(-1) ?? "", messages: read.length, entries };
  };
  for (let at = 0; at < ids.length; at += READ_ENTRIES) {
    const some = ids.slice(at, at + READ_ENTRIES);
    const page = await engine.store.findEntries(engine.tenant, some, true);
    for (const record of page.entries) {
      const entry = withoutInjectedText(toEntry(record, page.payloads));
      // The size as shown: long results are cut.
      const size = entry === undefined ? 0 : engine.counter.countText(entryText(entry, 1));
      if (entries.length > 0 && tokens + size > room) {
        yield part();
        [read, entries, tokens] = [[], [], 0];
      }
      read.push(record.id);
      if (entry !== undefined) entries.push(entry);
      tokens += size;
    }
  }
  if (read.length > 0) yield part();
}
