/** Writes summaries with a language model and checks its answers. */

import type { TextModel } from "../../model/models.ts";
import type { CitedText, Summarizer, SummaryAnswer, SummaryRequest } from "../summary.ts";
import {
  frequentIdentifiers,
  identifiersOfText,
  SUMMARY_RULES,
  SUMMARY_SYSTEM_PROMPT,
  SUMMARY_WISHES,
  type SummaryDemands,
  serializeEntry,
  summaryPrompt,
} from "./summary-prompt.ts";

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

// Checks a model's summary before it replaces the messages that it covers.
//
// Each check has a code and passes ordinary good summaries in any language. A summary that fails is
// dropped, and the caller falls back to a mechanical one.

/**
 * Whether a text mentions a request: by its entry's id, or by its words.
 *
 * The share of a request's words that must occur: a paraphrase keeps half, chance does not.
 */
const WORD_SHARE = 0.5;
/** Scripts without spaces use character pairs, which a paraphrase changes more easily. */
const PAIR_SHARE = 0.35;
const MAX_WORDS = 40;

const FILLERS = new Set(
  `about after again also another because before been being both cannot could does doing done dont each
  else from give have having here into just like make many more most much must need only other over
  please same should some such than that thats their them then there these they thing this those
  through very want well were what when where which while will with would your yours`.split(/\s+/),
);

function namesRequest(answer: string, request: CitedText): boolean {
  if (citedIds(answer).has(request.entryId)) return true;
  const lowered = answer.toLowerCase();
  const { words, pairs } = significantParts(request.text);
  if (words.length + pairs.length === 0) return true;
  const found = (parts: readonly string[]) => parts.filter((part) => lowered.includes(part)).length;
  const needed = words.length * WORD_SHARE + pairs.length * PAIR_SHARE;
  return found(words) + found(pairs) >= needed;
}

/** The ids in square brackets, one or several per pair. */
function citedIds(text: string): Set<string> {
  const brackets = text.matchAll(/\[([^[\]\n]{1,400})\]/g);
  return new Set([...brackets].flatMap(([, inside = ""]) => inside.split(/[\s,;]+/)));
}

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]+/gu;

function significantParts(text: string): { words: string[]; pairs: string[] } {
  const lowered = text.toLowerCase();
  const pairs = (lowered.match(UNSPACED) ?? []).flatMap((run) => {
    const characters = [...run];
    return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
  });
  const all = lowered.replace(UNSPACED, " ").match(/[\p{L}\p{N}_]+/gu) ?? [];
  const long = all.filter((word) => (word.length > 3 || /\d/.test(word)) && !FILLERS.has(word));
  const words = long.length > 0 || pairs.length > 0 ? long : all;
  const unique = (parts: readonly string[]) => [...new Set(parts)].slice(0, MAX_WORDS);
  return { words: unique(words.map(stem)), pairs: unique(pairs) };
}

/** The word without its ending, so that "tests" matches "testing"; names with digits stay whole. */
function stem(word: string): string {
  return /[\d_]/.test(word) || word.length < 6 ? word : word.slice(0, Math.max(5, word.length - 3));
}

/** The reasons to reject `answer`, each a code, a colon and words; none if it is good. */
export function checkSummary(
  answer: SummaryAnswer,
  request: SummaryRequest,
  demands: SummaryDemands,
): string[] {
  const text = withoutWrapper(answer.text);
  if (text === "") return ["empty: the summary has no text"];
  const prose = withoutQuotes(text);
  const record = request.entries.map((entry) => serializeEntry(entry)).join("\n");
  return [
    ...checkEnd(text, answer.finishReason),
    ...(isRefusal(prose) ? ["refusal: the model declined to write it"] : []),
    ...controlTextIn(prose, text).map((what) => `control_text: it holds ${what}`),
    ...checkSize(text, record, request.previous?.text ?? ""),
    ...checkCopy(text, record),
    ...demands.pending
      .filter((pending) => !namesRequest(text, pending))
      .map(({ entryId }) => `pending_missing: it does not name the open request [${entryId}]`),
    ...checkNames(text, identifiersOfText(request.previous?.text ?? ""), "earlier summary"),
    ...checkNames(text, frequentIdentifiers(request.entries), "conversation"),
  ];
}

/** Removes tags around the whole summary, which many models add. */
function withoutWrapper(text: string): string {
  const trimmed = text.trim();
  return (/^<summary>([\s\S]*)<\/summary>$/.exec(trimmed)?.[1] ?? trimmed).trim();
}

/** Characters that end no sentence. */
const OPEN_END =
  /[,;:([{–—-]$|\s(?:and|or|but|the|an?|of|to|with|for|in|on|at|by|from|because|that)$/i;

function checkEnd(text: string, finishReason: string): string[] {
  if (finishReason === "length") return ["cut_off: the model reached its output limit"];
  if (finishReason !== "stop") return [`not_finished: the model stopped with "${finishReason}"`];
  const fences = text.match(/^(?:```|~~~)/gm)?.length ?? 0;
  const isOpen = fences % 2 === 1 || OPEN_END.test(text);
  return isOpen ? ["cut_off: it ends in the middle of a sentence or a block"] : [];
}

/** A long input needs a minimum of words; a summary is never longer than its input. */
const LARGE_INPUT = 8_000;
const MOST_REQUIRED = 400;
const REQUIRED_SHARE = 1 / 50;
/** Below this, a summary with headings may be longer than its source. */
const ALWAYS_ALLOWED = 2_000;

function checkSize(text: string, record: string, previous: string): string[] {
  const input = sizeOf(record) + sizeOf(previous);
  const size = sizeOf(text);
  const least = input < LARGE_INPUT ? 0 : Math.min(MOST_REQUIRED, input * REQUIRED_SHARE);
  if (size < least) return [`too_short: ${size} characters for an input of ${input}`];
  if (size > Math.max(ALWAYS_ALLOWED, input)) {
    return [`too_long: ${size} characters for an input of ${input}`];
  }
  return [];
}

/** In characters; one of a script without spaces counts as three. */
function sizeOf(text: string): number {
  const dense =
    text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0;
  return text.length + 2 * dense;
}

/** Shingle length: a run of so many characters does not repeat by chance. */
const SHINGLE_LENGTH = 60;
const COPIED_SHARE = 0.6;
/** A short summary of a short conversation may quote most of it. */
const SHORTEST_COPY = 600;

function checkCopy(text: string, record: string): string[] {
  const said = text.replace(/\s+/g, " ");
  if (said.length < SHORTEST_COPY) return [];
  const source = record.replace(/\s+/g, " ");
  let copied = 0;
  let shingles = 0;
  for (let start = 0; start + SHINGLE_LENGTH <= said.length; start += SHINGLE_LENGTH) {
    shingles++;
    if (source.includes(said.slice(start, start + SHINGLE_LENGTH))) copied++;
  }
  if (copied < shingles * COPIED_SHARE) return [];
  return [`copied: ${copied} of ${shingles} passages are copied verbatim from the conversation`];
}

/** Below this, there are too few names to judge a summary. */
const FEWEST_NAMES = 3;

function checkNames(text: string, names: readonly string[], where: string): string[] {
  if (names.length < FEWEST_NAMES) return [];
  const lost = names.filter((name) => !text.includes(name));
  if (lost.length * 2 <= names.length) return [];
  return [
    `identifiers_lost: ${lost.length} of the ${names.length} most frequent names of the ${where} are missing, such as ${lost[0]}`,
  ];
}

// Detects text that does not belong in a summary: refusals and instructions. A model reads the
// summary and would follow an instruction in it.
//
// Conversations are also *about* such text, so quotes and code are skipped.

/** Code between equal runs of backticks, on one line. */
const CODE_SPAN = /(?<!`)(`+)(?!`)[^\n]{0,1000}?[^`]\1(?!`)/g;

/** `text` without quotes and code. */
function withoutQuotes(text: string): string {
  return text
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, " ")
    .replace(CODE_SPAN, " ")
    .replace(
      /"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|「[^」\n]{1,400}」|『[^』\n]{1,400}』/g,
      " ",
    );
}

const REFUSALS = [
  /^(?:i(?:['’]m| am) (?:very |so )?sorry|i apologi[sz]e|sorry)[,.]? (?:but )?(?:i |this |that )/i,
  /^(?:unfortunately, )?i(?: |['’])(?:can(?:no|['’])t|can not|am unable to|m unable to|am not able to|m not able to|won['’]t|will not)(?: be able to)? (?:help|assist|comply|summari[sz]e|provide|fulfil|create|write|produce|process|complete|share|discuss|engage|continue|do (?:that|this))/i,
  /^as an ai(?: language)? (?:model|assistant)\b/i,
  /^(?:很?抱歉|对不起|對不起)[，,]?.{0,12}(?:无法|不能|無法)/,
  /^(?:申し訳(?:ありません|ございません)|すみません)/,
];

/** Whether the text is a refusal. */
function isRefusal(prose: string): boolean {
  const start = prose.replace(/^[\s#>*_-]+/, "");
  return REFUSALS.some((pattern) => pattern.test(start));
}

const CONTROL: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a tag of the prompt", /<\/?(?:record|earlier-summary|wishes)-\d+>/i],
  ["a tag of a hidden part", /<\/?(?:analysis|think|thinking|scratchpad|reasoning)>/i],
  ["a system tag", /<\/?(?:system|system-reminder|instructions?|human|assistant|user)>/i],
  [
    "a marker of a chat template",
    /<\|[\w ]{1,40}\|>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>/,
  ],
  ["a marker of a role", /^(?:human|### ?(?:human|user|assistant|system|instruction))\s*:/im],
  [
    "a tool call",
    /<\/?(?:\w+:)?(?:tool_call|function_calls|invoke|tool_use|tool_result|function)\b[^>\n]{0,200}>/i,
  ],
  [
    "a tool call",
    /"type"\s*:\s*"(?:tool_use|tool_call|function_call|function)"|"tool_calls"\s*:\s*\[/,
  ],
  ["the text of a continuation", /this session is being continued from a previous conversation/i],
  ["the text of a continuation", /continue the conversation from where (?:it|we) left off/i],
  [
    "the text of a continuation",
    /do not (?:acknowledge the summary|preface with continuation text)/i,
  ],
];

const PROMPT_SENTENCES = [
  ...SUMMARY_SYSTEM_PROMPT.split(/\n|(?<=\.) /),
  ...SUMMARY_RULES,
  ...SUMMARY_WISHES.split(/(?<=\.) /),
]
  .map(normalize)
  .filter((sentence) => sentence.length >= 30);

/** The kind of instruction in `prose`; empty if none. `quoted` is the same text with its quotes. */
function controlTextIn(prose: string, quoted: string): string[] {
  const found = CONTROL.filter(([what, pattern]) =>
    // A tool call in JSON consists of quotes.
    pattern.test(what === "a tool call" ? withoutCode(quoted) : prose),
  ).map(([what]) => what);
  if (isDialogue(prose)) found.push("a dialogue");
  const said = normalize(prose);
  if (PROMPT_SENTENCES.some((sentence) => said.includes(sentence)))
    found.push("a rule of the prompt");
  return [...new Set(found)];
}

/** Two speakers at line starts: a transcript instead of a summary. */
function isDialogue(prose: string): boolean {
  return /^(?:user|human)\s*:/im.test(prose) && /^assistant\s*:/im.test(prose);
}

function withoutCode(text: string): string {
  return text.replace(/^(```|~~~)[\s\S]*?^\1/gm, " ").replace(CODE_SPAN, " ");
}

function normalize(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
