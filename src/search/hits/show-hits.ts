/** Builds hits with their windows from ranked messages. */

import { textOf } from "../../model/block.ts";
import { defined } from "../../model/defined.ts";
import { isRun, type TextRange } from "../../model/display.ts";
import { markOf } from "../../model/mark.ts";
import { endOutsideSecret } from "../../secrets/cut-outside-secrets.ts";
import { redact } from "../../secrets/redact.ts";
import type { Language } from "../analysis/analyze.ts";
import { matchFinder } from "../analysis/find-matches.ts";
import { ask, type SansIo, type Window, type WindowEntry } from "../port.ts";
import type { TermQuery } from "../query/query.ts";
import type { RankedHit } from "../rank-by-meaning.ts";
import type { FoundHit, HitBranch, SearchAnswer, SearchRequest, WindowItem } from "../request.ts";
import type { TenantCache } from "../search-cache.ts";
import { asIndexed, displayText, toolNameOf, toolTextOf } from "./display-text.ts";
import { findLater, type Said } from "./later-wins.ts";
import { isSameQuestion, MAX_ASKED, type Question, readOnlyAsked } from "./only-asked.ts";
import { shownMark } from "./shown-mark.ts";
import { cutSnippet, type Snippet } from "./snippet.ts";

const MAX_TITLE_BYTES = 256;
/** The limit of a quoted message. */
const MAX_QUOTE_BYTES = 4_096;

/**
 * At most `request.limit` hits. Marked ones are last, and sessions that only asked: others take
 * their places, up to half of all. Of those that asked the same one is shown.
 * `alike` words are highlighted like typed ones. Copies of a message in forks are shown once.
 */
export function* showHits(
  ranked: readonly RankedHit[],
  request: SearchRequest,
  query: TermQuery,
  alike: readonly string[],
  cache: TenantCache,
): SansIo<Pick<SearchAnswer, "hits" | "next">> {
  const { language } = cache.indexing;
  const highlight = highlighter(query, alike, language);
  const hits: FoundHit[] = [];
  const marked: FoundHit[] = [];
  const asked: Asked[] = [];
  // A question is not whole while it is typed.
  const isWhole = query.prefixes.length === 0;
  const judges =
    isWhole && request.reach !== "messages" && request.perSession === 1 && !request.roles;
  const said: Said[] = [];
  let isSaid = false;
  const shown = new Set(request.seen);
  const marks = new Map<FoundHit, readonly string[]>();
  let next = 0;
  while (hits.length < request.limit && next < ranked.length) {
    const batch = ranked.slice(next, next + request.limit - hits.length);
    next += batch.length;
    const wanted = batch.map(({ session, message }) => {
      const before = judges ? Math.max(1, request.before) : request.before;
      const after = judges ? Math.max(1, request.after) : request.after;
      const head = cache.head(session);
      const window = { session, sequence: message?.sequence ?? 0, before, after };
      return head === undefined ? window : { ...window, head };
    });
    const halves = batch.map(({ session, other }) =>
      request.exchange && other !== undefined
        ? { session, sequence: other.sequence, before: 0, after: 0 }
        : undefined,
    );
    const windows = yield* ask<"windows">({
      need: "windows",
      windows: [...wanted, ...halves.filter((half) => half !== undefined)],
    });
    const others = windows.slice(batch.length);
    for (const [i, hit] of batch.entries()) {
      const read = windows[i];
      const half = halves[i] && others.shift();
      if (read === undefined) continue;
      const question = judges ? yield* readQuestion(hit, read, language) : undefined;
      const window = judges ? narrowed(read, hit, request) : read;
      cache.rememberHead(hit.session, window.head);
      const found = window.entries.find(({ sequence }) => sequence === hit.message?.sequence);
      const isGone = found === undefined || found.erased;
      if (isGone && hit.message !== null) continue;
      const original = shownMark(found?.copiedFrom ?? found?.id ?? window.head.sessionId);
      if (shown.has(original)) continue;
      shown.add(original);
      const mark = markOf(window.head.marks, found?.id);
      const other = half?.entries.find(({ sequence }) => sequence === hit.other?.sequence);
      const exchange = other && !other.erased ? showHalf(other, highlight) : undefined;
      const shownHit = {
        ...showHit(hit, window, found, request, highlight),
        ...defined({ exchange }),
      };
      marks.set(shownHit, [original]);
      if (mark !== undefined) {
        marked.push({ ...shownHit, mark: { ...mark, reason: redact(mark.reason).text } });
      } else if (question !== undefined) {
        const same = asked.find((each) => isSameQuestion(each.words, question.words));
        if (same === undefined) asked.push({ ...question, hit: shownHit, others: [] });
        else {
          same.others.push(shownHit.shortId);
          marks.set(same.hit, [...(marks.get(same.hit) ?? []), original]);
        }
      } else {
        hits.push(shownHit);
        isSaid ||= found !== undefined && found.role !== "tool" && textOf(found.blocks) !== "";
        said.push(saidIn(hit, window, found));
      }
    }
  }
  const words = query.scored.filter(({ isPiece, weight }) => isPiece && weight === 1);
  const later = findLater(
    said.slice(0, MAX_COMPARED),
    words.map(({ term }) => term),
    language,
  );
  const best = laterFirst(hits, later, request, marks);
  const last: FoundHit[] = [];
  for (const { hit, others, isRecalled } of asked) {
    const question = { ...hit, onlyAsked: others };
    marks.set(question, marks.get(hit) ?? []);
    // The output of a tool answers nobody: a plain question stays before it.
    const at =
      isSaid || isRecalled || request.sort === "time"
        ? -1
        : best.findIndex(({ score }) => score < hit.score);
    if (at < 0) last.push(question);
    else best.splice(at, 0, question);
  }
  const page = withLast(best, [...last, ...marked], request);
  const isEnd = next >= ranked.length && page.length === best.length + last.length + marked.length;
  const known = [...(request.seen ?? []), ...page.flatMap((hit) => marks.get(hit) ?? [])];
  return isEnd || request.reach === "messages" ? { hits: page } : { hits: page, next: known };
}

/** A session that only asked, and others that asked the same. */
interface Asked extends Question {
  readonly hit: FoundHit;
  readonly others: string[];
}

/** The question, if the session of a hit did nothing but ask it. */
function* readQuestion(
  { session, message }: RankedHit,
  { entries, head }: Window,
  language: Language,
): SansIo<Question | undefined> {
  const isMatch = ({ sequence }: WindowEntry) => sequence === message?.sequence;
  const at = entries.findIndex(isMatch);
  const isEcho = entries[at]?.role === "assistant";
  if (head.messageCount > MAX_ASKED) return undefined;
  // What was said before an echo is not in the window yet.
  const near = isEcho ? entries.slice(at - 1, at) : entries.slice(Math.max(0, at));
  if (readOnlyAsked(near, language) === undefined) return undefined;
  const [whole] = yield* ask<"windows">({
    need: "windows",
    windows: [
      { session, sequence: message?.sequence ?? 0, before: MAX_ASKED, after: MAX_ASKED, head },
    ],
  });
  return whole && readOnlyAsked(whole.entries, language);
}

/** The neighbours that were asked for. */
function narrowed(
  window: Window,
  { message }: RankedHit,
  { before, after }: SearchRequest,
): Window {
  const { entries } = window;
  const at = Math.max(
    0,
    entries.findIndex(({ sequence }) => sequence === message?.sequence),
  );
  return { ...window, entries: entries.slice(Math.max(0, at - before), at + after + 1) };
}

/** A last hit is never hidden by worse ones: half of the places are left to them. */
function withLast(
  hits: readonly FoundHit[],
  last: readonly FoundHit[],
  { limit }: SearchRequest,
): FoundHit[] {
  const room = Math.max(limit - hits.length, Math.floor(limit / 2));
  const shown = last.slice(0, room);
  return [...hits.slice(0, limit - shown.length), ...shown];
}

function saidIn({ score }: RankedHit, { head }: Window, found: WindowEntry | undefined): Said {
  const text = found === undefined ? "" : displayText(found.blocks, found.role);
  const isSaid = found?.role === "user" && textOf(found.blocks) !== "";
  const { place, speaker } = head;
  return { text, speaker: isSaid ? speaker : null, time: found?.createdAt ?? 0, score, place };
}

/** More hits are not compared with each other: nobody reads them one by one. */
const MAX_COMPARED = 20;

/**
 * Marks each hit that a later one supersedes. If the query asks for what holds now, the later one
 * moves in front of it.
 */
function laterFirst(
  hits: readonly FoundHit[],
  later: readonly (number | undefined)[],
  { asksForNow, sort }: SearchRequest,
  marks: Map<FoundHit, readonly string[]>,
): FoundHit[] {
  const known = hits.map((hit, i) => {
    const by = hits[later[i] ?? -1];
    if (by === undefined) return hit;
    const { sessionId, shortId, entryId, index } = by;
    const superseded = { ...hit, supersededBy: { sessionId, shortId, entryId, index } };
    marks.set(superseded, marks.get(hit) ?? []);
    return superseded;
  });
  const order = [...known];
  for (const [i, hit] of asksForNow && sort !== "time" ? known.entries() : []) {
    const by = known[later[i] ?? -1];
    if (by === undefined || order.indexOf(by) < order.indexOf(hit)) continue;
    order.splice(order.indexOf(by), 1);
    order.splice(order.indexOf(hit), 0, by);
  }
  return order;
}

type Marks = readonly TextRange[];
type Highlight = (text: string) => Marks;

/** Stop-words are marked only in a run, or if there is no other word. */
function highlighter(
  { scored, prefixes, verbatim, required }: TermQuery,
  alike: readonly string[],
  language: Language,
): Highlight {
  const strong = scored.filter(({ weight }) => weight >= 0.5);
  const typed = (strong.length > 0 ? strong : scored).map(({ term }) => term);
  const terms = new Set([...typed, ...alike]);
  const phrases = required.flat().flatMap((one) => (one.kind === "phrase" ? [one.terms] : []));
  const runs = verbatim.length === 0 ? phrases : [verbatim, ...phrases];
  return matchFinder(terms, prefixes, language, runs);
}

function showHit(
  { score, parts, similarity }: RankedHit,
  window: Window,
  found: WindowEntry | undefined,
  request: SearchRequest,
  highlight: Highlight,
): FoundHit {
  const { sessionId, shortId, title, agent, createdAt, updatedAt, messageCount } = window.head;
  const lateBranches = window.head.lateLeaves.length;
  const shownTitle = cutSnippet(redact(title ?? "").text, [], MAX_TITLE_BYTES).text;
  return {
    sessionId,
    shortId,
    meta: { title: shownTitle, agent, createdAt, updatedAt, messageCount, lateBranches },
    entryId: found?.id ?? null,
    index: found?.index ?? null,
    leaf: window.leaf,
    branch: found === undefined ? null : branchOf(window),
    score,
    ...(similarity === undefined ? {} : { similarity }),
    window:
      request.reach === "messages"
        ? window.entries.filter((entry) => entry === found).map(quoteEntry)
        : window.entries.map((entry) => showEntry(entry, entry === found, highlight)),
    ...(request.explain ? { parts } : {}),
  };
}

function branchOf({ leaf, head }: Window): HitBranch | null {
  if (leaf === null || leaf === head.active?.id) return null;
  return head.lateLeaves.includes(leaf) ? "late" : "left";
}

/** Notes about branches of late files that a search of active paths did not include. */
export function lateNotes(
  hits: readonly FoundHit[],
  { branches }: Pick<SearchRequest, "branches">,
): readonly string[] {
  const late = new Set(hits.flatMap((hit) => (hit.meta.lateBranches > 0 ? [hit.shortId] : [])));
  if (branches === "all" || late.size === 0) return [];
  const ids = [...late].join(", ");
  return [`late files of ${ids} are on a branch; search with branches=all to include them`];
}

/** Of the tools where they have the match, or the run that the text does not have. */
function toolSnippet(
  { blocks }: WindowEntry,
  said: { readonly text: string; readonly marks: Marks },
  highlight: Highlight,
): Snippet {
  const done = redact(toolTextOf(blocks)).text;
  const marks = highlight(asIndexed(done, blocks));
  const isThere =
    said.marks.length === 0 ? marks.length > 0 : marks.some((mark) => isRun(done, mark));
  return isThere ? cutSnippet(done, marks) : cutSnippet(said.text, said.marks);
}

/**
 * The verbatim text for a context, neither masked nor marked: surfaces mask their output. So the
 * cut must not split a secret, whose half they would not recognise.
 */
function quoteEntry(entry: WindowEntry): WindowItem {
  const { id: entryId, index, role, actor, createdAt, blocks } = entry;
  const said = textOf(blocks);
  const { text, truncated } = cutSnippet(said, [], MAX_QUOTE_BYTES);
  const toolName = toolNameOf(blocks);
  return {
    entryId,
    index,
    role,
    actor,
    createdAt,
    snippet: truncated ? said.slice(0, endOutsideSecret(said, text.length)) : text,
    truncated,
    toolName,
    matches: [],
    found: true,
  };
}

/** Around the query's words if it has several of them, else from its beginning. */
function showHalf(entry: WindowEntry, highlight: Highlight): WindowItem {
  const { matches, ...shown } = showEntry(entry, true, highlight);
  const words = matches.map(({ start, end }) => shown.snippet.slice(start, end).toLowerCase());
  const isTelling = new Set(words).size > 1;
  return isTelling ? { ...shown, matches, found: false } : showEntry(entry, false, highlight);
}

function showEntry(entry: WindowEntry, found: boolean, highlight: Highlight): WindowItem {
  const said = redact(displayText(entry.blocks, entry.role)).text;
  const isSaid = textOf(entry.blocks) !== "";
  const marks = found ? highlight(isSaid ? said : asIndexed(said, entry.blocks)) : [];
  const isElsewhere = found && isSaid && !marks.some((mark) => isRun(said, mark));
  const snippet = isElsewhere
    ? toolSnippet(entry, { text: said, marks }, highlight)
    : cutSnippet(said, marks);
  return {
    entryId: entry.id,
    index: entry.index,
    role: entry.role,
    actor: entry.actor,
    createdAt: entry.createdAt,
    snippet: snippet.text,
    truncated: snippet.truncated || entry.truncated,
    toolName: toolNameOf(entry.blocks),
    matches: snippet.matches,
    found,
  };
}
