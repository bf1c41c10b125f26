/**
 * Finds sessions similar to a given one, and earlier occurrences of a question.
 *
 * Composed of searches: by meaning with an embedder, else by words.
 */

import { saidBlocks } from "../api/text/session-heading.ts";
import { checkHits } from "../engine/check.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { SearchInput } from "../engine/search.ts";
import type { RELATED } from "../model/answers/context.ts";
import { textOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_HITS } from "../model/limits.ts";
import type { FiltersOf } from "../model/session-filters.ts";
import type { FieldsOf } from "../model/shape.ts";
import { contentWords } from "../search/query/content-words.ts";
import { BY_WORDS_ONLY, type SearchHit } from "../search/request.ts";

export interface RelatedInput extends Pick<SearchInput, FiltersOf<"related">> {
  /** Exactly one of the two. A session, by any of its ids: its first question is used. */
  readonly session?: string;
  readonly question?: string;
  /** The limits of sessions and of questions: at most 20 each. Default 5. */
  readonly limit?: number;
}

export interface Related extends FieldsOf<typeof RELATED> {
  readonly sessions: readonly SearchHit[];
  readonly asked: readonly SearchHit[];
}

export const DEFAULT_RELATED = 5;
/** About the input of a sentence embedder; more words would dilute a search. */
const MAX_CHARACTERS = 600;
/** Messages read to find the user's first ones. */
const OPENING_PAGE = 50;
/** User messages that describe a session, beside its title. */
const OPENING_MESSAGES = 3;
/**
 * The minimum cosine of equal questions. With all-MiniLM-L6-v2 seven of eight questions in two
 * wordings have it, and hardly any two different ones: docs/decisions/vectors.md.
 */
export const SAME_QUESTION = 0.6;
/** Hits of one session that are compared. */
const COMPARED = 3;

export async function relatedSessions(tenant: TenantApi, input: RelatedInput): Promise<Related> {
  const {
    session,
    question,
    limit: given,
    ...filter
  } = checkFields(input, "options", INPUTS.relatedSessions);
  const limit = checkHits(given, "limit", DEFAULT_RELATED);
  if ((session === undefined) === (question === undefined)) {
    throw new BackscrollError("invalid_input", "give exactly one of session and question", {
      details: { field: "question" },
    });
  }
  const notes = new Set<string>();
  const find = async (query: string, options: SearchInput): Promise<readonly SearchHit[]> => {
    const sizes = { limit: MAX_HITS, contextBefore: 0, contextAfter: 0 };
    const result = await tenant.searchSessions(query, { ...filter, ...sizes, ...options });
    for (const note of result.notes) if (note.startsWith(BY_WORDS_ONLY)) notes.add(note);
    return result.hits;
  };
  if (question !== undefined) {
    const text = checkQuestion(question);
    const asked = await findAsked(find, text, {});
    return { question: text, sessions: [], asked: asked.slice(0, limit), notes: [...notes] };
  }
  const { id, title } = await tenant.getSessionMeta(session as string);
  const said = await readOpening(tenant, id);
  const text = said[0]?.slice(0, MAX_CHARACTERS) ?? null;
  const about = contentWords([title, ...said].join("\n").slice(0, MAX_CHARACTERS)).trim();
  const others = { excludeSession: id };
  const sessions = about === "" ? [] : await find(about, { ...others, match: "words" });
  const asked = text === null ? [] : await findAsked(find, text, others);
  return {
    question: text,
    sessions: sessions.slice(0, limit),
    asked: asked.slice(0, limit),
    notes: [...notes],
  };
}

type Find = (query: string, options: SearchInput) => Promise<readonly SearchHit[]>;

/** By meaning with vectors, else every word of the question must match. */
async function findAsked(find: Find, question: string, others: SearchInput): Promise<SearchHit[]> {
  const users = { ...others, role: "user", perSession: COMPARED };
  const near = await find(question, { ...users, match: "words" });
  if (near.some(({ similarity }) => similarity !== undefined)) {
    const same = near.filter(({ similarity = 0 }) => similarity >= SAME_QUESTION);
    return onePerSession(same.sort((a, b) => (b.similarity ?? 0) - (a.similarity ?? 0)));
  }
  // Punctuation would be parsed as operators.
  const words = contentWords(question.replace(/[^\p{L}\p{N}]+/gu, " ")).trim();
  return words === "" ? [] : onePerSession(await find(words, { ...users, match: "all" }));
}

function onePerSession(hits: readonly SearchHit[]): SearchHit[] {
  const seen = new Set<string>();
  return hits.filter(({ sessionId }) => {
    const isNew = !seen.has(sessionId);
    seen.add(sessionId);
    return isNew;
  });
}

function checkQuestion(question: unknown): string {
  const text = typeof question === "string" ? question.trim() : "";
  if (text !== "") return text.slice(0, MAX_CHARACTERS);
  throw new BackscrollError("invalid_input", "question must be a non-empty string", {
    details: { field: "question" },
  });
}

/** The user's first messages, without injected text. */
async function readOpening(tenant: TenantApi, id: string): Promise<readonly string[]> {
  const { messages } = await tenant.listMessages(id, {
    offset: 0,
    limit: OPENING_PAGE,
    preview: true,
  });
  return messages.flatMap(saidBy).slice(0, OPENING_MESSAGES);
}

function saidBy(entry: Entry): readonly string[] {
  if (entry.role !== "user") return [];
  const text = textOf(saidBlocks(entry)).trim();
  return text === "" ? [] : [text];
}
