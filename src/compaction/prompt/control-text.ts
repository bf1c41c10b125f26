/**
 * Detects text that does not belong in a summary: refusals and instructions. A model reads the
 * summary and would follow an instruction in it.
 *
 * Conversations are also *about* such text, so quotes and code are skipped.
 */

import { SUMMARY_RULES, SUMMARY_SYSTEM_PROMPT, SUMMARY_WISHES } from "./summary-prompt.ts";

/** Code between equal runs of backticks, on one line. */
const CODE_SPAN = /(?<!`)(`+)(?!`)[^\n]{0,1000}?[^`]\1(?!`)/g;

/** `text` without quotes and code. */
export function withoutQuotes(text: string): string {
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
export function isRefusal(prose: string): boolean {
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
export function controlTextIn(prose: string, quoted: string): string[] {
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
