/**
 * A hit, as data (the match and the messages around it) and as text for a model (the session, the
 * match, and a line of context).
 */

import type { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { shapeSchema } from "../../api/shape-schema.ts";
import { holdNotes } from "../../api/text/later.ts";
import { sessionHeading } from "../../api/text/session-heading.ts";
import { readableJson, toolCallLine } from "../../api/text/tool-call.ts";
import { type ShownNeighbours, shownItems } from "../../api/text/window.ts";
import type { SearchResult } from "../../engine/search.ts";
import { SEARCH_HIT, WINDOW_ITEM } from "../../model/answers/context.ts";
import { excerptRange, isRun, type TextRange } from "../../model/display.ts";
import type { Session } from "../../model/session.ts";
import type { SearchHit, WindowItem } from "../../search/request.ts";
import { formatRef } from "../fit-listing.ts";
import { MAYBE_OWN } from "../own-session.ts";
import { toLine, withinProject, withoutNumber } from "./line.ts";

const { matches: _matches, ...ITEM } = WINDOW_ITEM;
const { parts: _parts, window: _window, ...FOUND } = SEARCH_HIT;
const HIT = { ...FOUND, newest: "flag", window: [ITEM] } as const;

type HitView = Omit<WireOf<typeof SEARCH_HIT>, "window" | "parts"> & {
  readonly window: readonly Omit<WireOf<typeof WINDOW_ITEM>, "matches">[];
  /** True for hits of the newest session, if the caller's own is unknown. */
  readonly newest: boolean;
};

export const HIT_VIEW: z.ZodType<HitView> = shapeSchema(HIT);

export function toHitViews(result: SearchResult, newest?: string): readonly HitView[] {
  return result.hits.map((hit) => toHitView(hit, newest));
}

export function toHitView(found: SearchHit, newest?: string): HitView {
  const meta = { ...found.meta, title: maskText(found.meta.title) };
  return toWire(HIT, { ...found, meta, newest: found.sessionId === newest });
}

/** Characters of the matched message, and of a neighbour. */
const FOUND_CHARACTERS = 420;
const NEAR_CHARACTERS = 160;
/** Characters of a line of the matched message, and the number of lines. */
const PASSAGE_CHARACTERS = 200;
const PASSAGES = 4;

const BRANCHES = {
  late: " (on a branch: its file was read after later ones)",
  left: " (on a branch that was left)",
} as const;

/** Extra neighbours on each side, as empty ones are skipped. */
export const HIT_REACH = 3;

interface HitStyle extends ShownNeighbours {
  readonly now: number;
  /** True for hits of the newest session, if the caller's own is unknown. */
  readonly isNewest: boolean;
}

export function showHit(hit: SearchHit, session: Session, style: HitStyle): string {
  const heading = sessionHeading(session, style.now);
  const ref = formatRef(hit.shortId, hit.index);
  const lines = shownItems(hit.window, style).map((item) => showItem(item, session));
  const newest = style.isNewest ? ` (${MAYBE_OWN})` : "";
  const branch = hit.branch === null ? "" : BRANCHES[hit.branch];
  const notes = holdNotes(hit, hit.sessionId).map((note) => ` (${note})`);
  const suffix = [branch, newest, ...notes].join("");
  return [`${heading.replace(hit.shortId, () => ref)}${suffix}`, ...lines].join("\n");
}

function showItem(item: WindowItem, { agent, origin }: Session): string {
  const mark = item.found ? "→" : " ";
  const text = withinProject(textOfItem(item), origin.projectPath);
  return `${mark} #${item.index} ${whoOf(item, agent)}: ${text}`;
}

function whoOf({ role, actor, toolName }: WindowItem, agent: string): string {
  if (role === "tool") return `${toolName ?? actor ?? "tool"} result`;
  if (actor === null || actor === agent) return role ?? "note";
  return actor;
}

function textOfItem(item: WindowItem): string {
  const call = toolCallLine(item.snippet);
  const text = withoutName(call ?? item.snippet, item);
  const isWhole = text.length <= FOUND_CHARACTERS && !text.includes("\n");
  if (!item.found) return toLine(text, NEAR_CHARACTERS, item.truncated);
  const isCall = call !== undefined && item.matches.every((match) => isShown(item, match, call));
  if (isCall || (isWhole && call === undefined)) {
    return toLine(text, FOUND_CHARACTERS, item.truncated);
  }
  const found = call === undefined ? withoutName(passages(item), item) : readable(passages(item));
  return toLine(found, FOUND_CHARACTERS, item.truncated);
}

/** Whether the line of a call has a run of the query, which may be in another of its arguments. */
function isShown({ snippet }: WindowItem, match: TextRange, call: string): boolean {
  if (!isRun(snippet, match)) return true;
  return call.includes(readable(snippet.slice(match.start, match.end)));
}

function readable(json: string): string {
  return readableJson(json).text;
}

/** The heading of a result already has its tool's name. */
function withoutName(text: string, { role, toolName }: WindowItem): string {
  const isNamed = role === "tool" && toolName !== null && text.startsWith(`${toolName}: `);
  return isNamed ? text.slice((toolName ?? "").length + 2) : text;
}

/** The lines with a run, else with matches, each cut around them; the beginning if there is none. */
function passages({ snippet, matches }: WindowItem): string {
  const runs = matches.filter((match) => isRun(snippet, match));
  const shown = runs.length > 0 ? runs : matches;
  const found: string[] = [];
  let start = 0;
  for (const line of snippet.split("\n")) {
    const end = start + line.length;
    const own = shown.filter((each) => each.start >= start && each.start < end);
    if (own.length > 0 && found.length < PASSAGES) {
      const inLine = own.map((each) => ({ start: each.start - start, end: each.end - start }));
      found.push(withoutNumber(cutRound(line, inLine)));
    }
    start = end + 1;
  }
  if (found.length === 0) return snippet;
  return found.join(" … ");
}

/** At most a third of the room precedes the matches. */
function cutRound(line: string, matches: readonly TextRange[]): string {
  const before = Math.floor(PASSAGE_CHARACTERS / 3);
  const { start, end } = excerptRange(line, matches, PASSAGE_CHARACTERS, before);
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""}`;
}
