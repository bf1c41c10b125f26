/**
 * Finds the sentences of a person's message that were meant to stand: "always …", "from now on …",
 * "I prefer …". English, without a model.
 *
 * A sentence is a rule if it tells somebody to do something and says that this holds in general.
 * Most sentences with such words are none: they ask for the moment ("don't change anything, just let
 * me know"), ask a question, report ("it always fails"), or were pasted.
 */

import { withoutInjected } from "../search/document/injected.ts";
import { LONGEST_SECRET, REDACTED, redact } from "../secrets/redact.ts";
import { personsWords } from "./persons-words.ts";

/** A person states a rule early; what follows is often pasted. */
const MAX_TEXT = 8_192;
/** With what clients added before it. */
const MAX_PASTE = 262_144;
const MAX_SENTENCES = 80;
/** A longer sentence is pasted, or says several things. */
const MAX_RULE = 320;
/** Words of the shortest rule. */
const LEAST_WORDS = 4;

/** The rules of a message, in order, as they were said. A sentence with a secret is none. */
export function findRules(text: string): readonly string[] {
  // A secret is masked before the text is cut, so that no part of it passes for a sentence.
  const masked = redact(text.slice(0, MAX_PASTE + LONGEST_SECRET)).text.slice(0, MAX_PASTE);
  const head = withoutInjected(personsWords(masked));
  if (isDocument(head.slice(0, MAX_TEXT))) return [];
  const rules = sentencesOf(head).flatMap((sentence) => {
    if (PASTED.test(sentence) || sentence.includes(REDACTED)) return [];
    const preferred = preferenceIn(sentence);
    if (preferred !== undefined) return [preferred];
    return sentence.length <= MAX_RULE && isInstruction(sentence) ? [trimmed(sentence)] : [];
  });
  return [...new Set(rules)].filter((rule) => {
    return rule.split(" ").length >= LEAST_WORDS && redact(rule).text === rule;
  });
}

/** An agent's prompt, a plan, a page of documentation. */
function isDocument(text: string): boolean {
  if (/^\s*(?:you are (?:an?|the|now)\b|implement the following plan|# )/i.test(text)) return true;
  return (text.match(/^#{1,4} \S/gm)?.length ?? 0) > 1;
}

/** "Log it...not sure": between words alone, never within an address. */
const END = /(?<=[.?!])\s|(?<=\s[a-z]{1,20})\.{3}(?=[a-z]{1,20}\s)/i;

/** Without quoted lines and a tool's output; with their mark at the end. */
function sentencesOf(text: string): readonly string[] {
  const sentences = text
    .slice(0, MAX_TEXT)
    .split("\n")
    .filter((line) => !/^\s*(?:[>❯⎿│|+✓✗⏺$]|-{2,})/u.test(line))
    .flatMap((line) => line.split(END))
    .map((sentence) => sentence.replace(/\s/g, " ").trim());
  // The last one was cut.
  if (text.length > MAX_TEXT) sentences.pop();
  return sentences
    .filter((sentence) => sentence !== "" && sentence.length <= 1_000)
    .slice(0, MAX_SENTENCES);
}

/** Lines of logs and code, and numbered lines of a tool's output. */
const PASTED =
  /^(?:\d[\d:.TZ-]{6,}|[\w./-]{1,80}:\d+|error\b|warning\b|===|\{|<|@|\/\/)|[;{}]$|=>|\\n/i;

const VERBS =
  "add|aim|answer|apply|ask|assume|avoid|begin|bring|call|change|check|choose|cite|clean|commit|compare|confirm|consider|cover|create|cut|declare|default|define|delete|describe|display|document|double[- ]check|draw|drop|emphasi[sz]e|end|ensure|exit|explain|export|fail|favou?r|fetch|file|fix|focus|follow|format|generate|give|group|handle|highlight|ignore|import|include|indent|keep|label|leave|limit|link|list|log|maintain|make|match|mention|merge|move|name|note|offer|omit|open|order|pass|pin|place|plan|point|prefer|prefix|present|print|prioriti[sz]e|propose|provide|push|put|quote|raise|read|rebase|recommend|record|reference|refer|relate|remind|remove|render|reply|report|respond|return|round|run|say|search|send|separate|set|show|skip|sort|specify|spell|squash|start|state|stay|stick|stop|store|structure|suggest|summari[sz]e|support|tag|tell|test|treat|try|turn|type|update|use|validate|verify|wait|warn|wrap|write";

const LEAD =
  "(?:(?:and|also|but|so|oh|ok|okay|yes|yeah|yep|no|please|then|hey|hmm|actually|just|note|rule|reminder|one more thing|btw|by the way)[,:]? {1,3}){0,4}";
const BULLET = "^(?:[-*•] |\\d{1,2}[.)] )?";

function starting(pattern: string): RegExp {
  return new RegExp(`${BULLET}${LEAD}(?:${pattern})`, "i");
}

const FROM_NOW_ON =
  "from (?:now|here|this point|today) on(?:wards?)?|going forward|moving forward|in (?:the )?future|as a (?:general )?rule|in general|by default|at all times|under no circumstances";
const EVERY_TIME =
  "whenever(?! (?:needed|possible|necessary|you (?:want|like|can)))|(?:every|each|any) ?time|every single time|when(?:ever)? (?:i|we) ask|if (?:i|we) ever";
const EVERYWHERE =
  "everywhere|anywhere|in (?:this|our|the whole|the entire) (?:repo(?:sitory)?|code ?base|project)|across the (?:repo(?:sitory)?|code ?base|project)|any (?:more )?\\w+|every (?:new )?\\w+|all (?:the |our |my )?(?:new |future )?\\w+s|once we \\w+";

/** An imperative, or a sentence that says what the agent or the team should do. */
const COMMAND = starting(
  `(?:let'?s |make sure |ensure |be sure to |you (?:should|must|need to|have to|can) |we (?:should|must|need to|have to|want to) |i(?:'d| would)? (?:want|like|need|expect) you to |try to )?(?:(?:don'?t|do not|never|always|only) )?(?:${VERBS})\\b`,
);
const SHOULD = /\b(?:should|must|shall|needs? to|ha(?:s|ve) to|are to|is to)\b/i;

const STANDING: readonly RegExp[] = [
  // "Always include …", "please never push to main", "if there is an error, always exit with 1".
  starting(
    `(?:i |we |(?:i|we|you)(?:'d| would|'ll| will| should| must| need to| want you to| want to)? )?(?:always|never) (?:ever )?(?:${VERBS})\\b`,
  ),
  new RegExp(
    `^(?:if|when|whenever|before|after|unless|for|in|on|with) [^?]{2,160}?[,:] (?:please )?(?:always|never) (?:${VERBS})\\b`,
    "i",
  ),
  new RegExp(`[,;:] (?:but |and |so )?(?:always|never) (?:${VERBS}) `, "i"),
  /\b(?:should|must|shall|to|needs? to|has to|have to) (?:always|never|only ever)\b/i,
  // "From now on …", "going forward, …".
  starting(
    `(?:${FROM_NOW_ON})\\b,? (?:please |you |we |i |use |let'?s |all |every |no |the |only |just |(?:don'?t|do not|never|always) |(?:${VERBS})\\b)`,
  ),
  // "Whenever you change the schema, run …".
  new RegExp(
    `^(?:[-*•] )?(?:please |and |also )?(?:${EVERY_TIME})\\b[^,?]{2,160}, (?:please |then |you (?:should|must) |we (?:should|must) )?(?:(?:always|never|don'?t|do not) )?(?:${VERBS})\\b`,
    "i",
  ),
  // "Remember to …".
  starting(
    "(?:remember|don'?t forget|keep in mind|bear in mind) (?:also |always )?(?:to|that you|that we should|you|we should)\\b",
  ),
  // "In this repo we want …".
  starting(
    "in (?:this|our|my) (?:repo(?:sitory)?|code ?base|project|team|company|house),? (?:we|i|you|all|every|always|never|please|use|the|there)\\b",
  ),
  // "The rule is to …".
  /\b(?:the|our|my|a) (?:\w{1,20} ){0,2}(?:directive|rule|convention|policy|guideline|principle)(?: here)? is (?:to|that|never|always|not)\b/i,
  // "… should be the source of truth".
  /\b(?:should|must) (?:always )?be (?:the |our )?(?:single )?source of truth\b/i,
  // "Claude should ask before …".
  /\b(?:you|claude|codex|gemini|copilot|cursor|the (?:agent|agents|assistant|model)|agents) (?:should|must|may|can) (?:always|never|only|not|ask|specifically)\b/i,
  // "Update CLAUDE.md: …".
  starting(
    "(?:let'?s |yep, )?[^?]{0,60}\\b(?:update|add|put|note|write|document)\\b[^?]{0,60}\\b(?:to|in|into|update|add) (?:the )?(?:claude|agents|gemini)\\.md\\b",
  ),
  // "Please don't amend commits - it breaks the workflow": with its reason.
  starting(
    `(?:don'?t|do not|never|avoid) (?:${VERBS}|amend\\w*|force[- ]push\\w*|touch|mock|edit|modify|guess|invent|reformat|rewrite|reset|stash|install|duplicate|hard-?code|\\w+ing) (?!it\\b|that\\b|this\\b|anything\\b|them\\b)[^?]{2,120}?(?: [-–—] |, ?as |, ?since |[,;]? because )(?:it|this|that|they|we|i|otherwise|there)\\b`,
  ),
  // "There should be only one way to …".
  /\bshould (?:be only|only be|only ever be) [_*]?(?:one|a single)(?![a-z])/i,
  // "Every test should …", "… regardless of who asks".
  starting("(?:each|every|all) (?:[\\w-]{1,30} ){1,12}(?:should|must|needs? to|has to|have to)\\b"),
  /\b(?:should|must|would|want|always|never|need to) [^?]{2,160} (?:regardless of|no matter) (?:which|what|who|how|whether|when|where)\b/i,
  // "Use the prefix x/ for branch names".
  starting(
    "use (?:the |a |an )?(?:prefix|suffix|format|style|spelling) [^?]{1,80} for (?:the |a |all |any |every |our )?[\\w-]{1,30}(?: names?)?\\b",
  ),
];

const LASTING = new RegExp(`\\b(?:${FROM_NOW_ON}|${EVERY_TIME})\\b`, "i");
const WIDE = new RegExp(`\\b(?:${EVERYWHERE})\\b`, "i");

/** Asks for the moment, or reports. */
const MOMENT =
  /\b(?:for now|right now|this time|just let me know|let me know|let'?s [^,]{1,60} first|not always|(?:don'?t|doesn'?t|isn'?t|aren'?t|didn'?t|wasn'?t|do not|does not|is not) (?:always|never|explicitly|necessarily)|never ?mind|in the future (?:again|be)|looks? like|seems?|forward,? i(?:['’]ll| think)?)\b/i;

/** Thinks aloud. */
const DOUBT = /\b(?:i (?:guess|wonder|think)|not sure|maybe|perhaps|let'?s see|missing)\b/i;

const QUESTION =
  /^(?:(?:and|so|but|ok|okay|also|yes|yeah|hmm|oh|q|question)[,:]? ){0,3}(?:can|could|do|does|did|is|are|was|were|why|what|whats|how|should|would|will|where|which|who|have|has)\b/i;

function isInstruction(sentence: string): boolean {
  if (sentence.includes("?") || QUESTION.test(sentence) || MOMENT.test(sentence)) return false;
  const said = sentence.replace(/"[^"]{0,200}"|“[^”]{0,200}”/g, '""');
  if (STANDING.some((pattern) => pattern.test(said))) return true;
  if (DOUBT.test(said)) return false;
  return said.split(/ (?:[-–—]|->) /).some((part) => {
    if (!COMMAND.test(part)) return false;
    return LASTING.test(part) || (WIDE.test(part) && isGeneral(part));
  });
}

/** A command about everything of a kind stands only if it also says how things should be. */
function isGeneral(sentence: string): boolean {
  return (
    SHOULD.test(sentence) ||
    /\b(?:make sure|ensure|fail|never|always|only|strict(?:ly)?|everywhere)\b/i.test(sentence)
  );
}

const PREFERENCE =
  /\b(?:I (?:(?:also|always|usually|generally|typically|really|much|strongly|still|now|personally|definitely|tend to) ){0,2}(?:prefer|prioriti[sz]e|favou?r|dislike|hate)|I(?:'d| would) (?:always|generally|usually|rather always) (?:prefer|rather)|I(?:'ve| have) been prioriti[sz]ing|I(?:'m| am) (?:always )?prioriti[sz]ing|I prioriti[sz]ed|I (?:really |always )?(?:like|love|enjoy) \w{2,20}ing\b|my (?:strong |general |personal )?preference (?:is|for)|I (?:don'?t|do not|never) (?:like|want) (?:it when|you to|when)|I (?:like|want) (?:you to always|it when|all |every |my \w+ to always))/i;

/** What follows a preference in the same sentence: a question, or a doubt. */
const AFTER =
  /(?:[,;] (?:so |and |but |then )?| -+ | (?:so|but|and) )(?:can|could|would|will|how|what|what['’]s|which|where|when|why|who|is|are|do|does|did|should|any|considering|some|i|i['’]\w+|it['’]?s?|like (?:i|you) (?:mentioned|said)) (?!over\b)/i;
/** A question about what to prefer, or a comparison with it. */
const ASKED =
  /\b(?:should|can|could|do|did|if|whether|like|as|what|which|than|where|would|will|once|when|that|helps?|how|until|the way|kinda) $/i;
/** Refers to something that is not in the sentence. */
const POINTS =
  /^\W*(?:that|this|it|the (?:first|second|former|latter|other|last)|option|number|\d|these|those|them|if)\b(?! (?:when|over|if))/i;

/** "I prefer …" up to the question that it is a part of. */
function preferenceIn(sentence: string): string | undefined {
  const found = PREFERENCE.exec(sentence);
  if (found === null) return undefined;
  const rest = sentence.slice(found.index + found[0].length);
  if (POINTS.test(rest) || ASKED.test(sentence.slice(0, found.index))) return undefined;
  const end = AFTER.exec(rest)?.index ?? rest.length;
  const clause = found[0] + rest.slice(0, Math.min(end, MAX_RULE - found[0].length));
  return trimmed(clause);
}

function trimmed(sentence: string): string {
  return sentence.replace(/^(?:[-*•] |\d{1,2}[.)] )/, "").replace(/[\s,;:?]{1,8}$/, "");
}
