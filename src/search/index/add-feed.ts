/** Turns feed slices into documents: the terms of messages, sessions and notes. */

import { lineTerms } from "../../blame/lines/line-terms.ts";
import type { JsonObject } from "../../model/json.ts";
import { memoryKey } from "../../model/note.ts";
import { redact } from "../../secrets/redact.ts";
import {
  analyze,
  analyzerVersion,
  analyzeWords,
  type Language,
  MORPHOLOGIES,
} from "../analysis/analyze.ts";
import { isTrivialName } from "../analysis/name.ts";
import { tokenize } from "../analysis/tokenize.ts";
import { indexableText, type ToolIndexing } from "../document/indexable-text.ts";
import { INJECTED_METADATA } from "../document/injected.ts";
import { isOwnTool } from "../document/own-tools.ts";
import type { FeedEntry, FeedFact, FeedMemory, FeedSession, SegmentInfo } from "../port.ts";
import { ROLES } from "./layout.ts";
import type { MemoryIndex, Words } from "./memory-index.ts";
import { actorTerm, hiddenTerm, IS_CUT, MACHINE_MADE, toolTerm } from "./special-terms.ts";

export interface IndexingOptions {
  readonly language: Language;
  readonly tools: ToolIndexing;
  /** Of the hashes of lines; the store's own. */
  readonly lineKey?: string;
}

/** Incremented with every change that gives some message further terms, or makes it a document. */
const SELECTION = 4;

type Settings = Pick<IndexingOptions, "language" | "tools">;

/** The version of analysis and document selection, as a segment records it. */
export function indexVersion({
  language,
  tools,
}: Settings): Required<Pick<SegmentInfo, "analyzer" | "selection">> {
  return { analyzer: `${analyzerVersion(language)}/${tools}`, selection: SELECTION };
}

/**
 * Whether a segment need not be rebuilt. A later selection is left alone, and 0.1.0 knows the analyzer
 * only: two versions on one store would otherwise rebuild each other's segments for ever.
 */
export function isCurrent({ analyzer, selection = 0 }: SegmentInfo, settings: Settings): boolean {
  const version = indexVersion(settings);
  return analyzer === version.analyzer && selection >= version.selection;
}

/** The position gap between two parts of a message, so that no phrase spans them. */
const GAP = 8;

export function addEntry(index: MemoryIndex, entry: FeedEntry, options: IndexingOptions): boolean {
  const { kind, role, status, blocks } = entry;
  const metadata = decidingMetadata(entry.metadata);
  const text = indexableText({ kind, role, status, blocks, metadata }, options);
  const { parts, outputs, roleClass, hidden, isCut } = text;
  const isMarked = isCut || hidden.length > 0;
  if (parts.length + outputs.length === 0 && !isMarked) return false;
  const { session, sequence, chain, depth, createdAt: time } = entry;
  const place = { session, sequence, chain, depth, time, role: ROLES.indexOf(roleClass) };
  return index.addMessage(
    place,
    wordsOfParts(parts, options),
    wordsOfParts(outputs, options),
    (into, hasWords) => {
      for (const term of hiddenTerms(hidden, options.language)) into.term(term, 0);
      if (isCut) into.term(IS_CUT, 0);
      if (!hasWords) return isMarked;
      if (entry.actor !== null) {
        for (const term of actorTerms(entry.actor, options.language)) into.term(term, 0);
      }
      for (const block of entry.blocks) {
        const name = block.type === "tool_use" ? block.name : toolNameOf(block);
        if (name !== undefined) into.term(toolTerm(name), 0);
      }
      if (options.tools === "all" && mayChange(entry.blocks)) {
        // What was not masked as a whole has no secret in a line.
        const isSecret = isCut ? hasSecret : () => false;
        for (const term of lineTerms(entry.blocks, options.lineKey ?? "", isSecret))
          into.term(term, 0);
      }
      return true;
    },
  );
}

/** Of our own tools, results quote other sessions. */
function mayChange(blocks: FeedEntry["blocks"]): boolean {
  return blocks.some(
    (block) =>
      (block.type === "tool_use" && !isOwnTool(block.name)) ||
      (block.type === "tool_result" && !isOwnTool(block.toolName ?? "")),
  );
}

function hasSecret(text: string): boolean {
  return redact(text).text !== text;
}

function hiddenTerms(texts: readonly string[], language: Language): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const text of texts) analyze(text, 0, language, (term) => terms.add(hiddenTerm(term)));
  return terms;
}

function wordsOfParts(parts: readonly string[], { language }: IndexingOptions): Words {
  return (into) => {
    let length = 0;
    let position = 0;
    for (const part of parts) {
      const end = analyzeWords(part, position, language, into);
      length += end - position;
      position = end + GAP;
    }
    return length;
  };
}

/** By language and name: most messages have the same few actors. */
const knownActors = new Map<string, readonly string[]>();
const MAX_ACTORS = 1_024;

function actorTerms(actor: string, language: Language): readonly string[] {
  const key = `${language}/${actor}`;
  const known = knownActors.get(key);
  if (known !== undefined) return known;
  const terms: string[] = [];
  analyze(actor, 0, language, (term) => terms.push(actorTerm(term)));
  if (knownActors.size >= MAX_ACTORS) knownActors.clear();
  knownActors.set(key, terms);
  return terms;
}

export function addSession(
  index: MemoryIndex,
  session: FeedSession,
  options: IndexingOptions,
): void {
  index.addSession(session.session, {
    title: wordsOf(session.title ?? "", options),
    summary: wordsOf(session.summary ?? "", options),
    about: (into) => {
      const length = wordsOf(aboutText(session), options)(into);
      const names = projectTerms(session, options.language);
      for (const [i, name] of names.entries()) into.term(name, length + i);
      if (session.machineMade) into.term(MACHINE_MADE, 0);
      return length + names.length;
    },
  });
}

export function addMemory(index: MemoryIndex, memory: FeedMemory, options: IndexingOptions): void {
  const { name, content } = memory;
  const words = content === null ? null : wordsOf(`${name}\n${content}`, options);
  index.addMemory(memoryKey(memory.agent, name), words);
}

export function addFact(index: MemoryIndex, fact: FeedFact, options: IndexingOptions): void {
  const words = fact.text === null ? null : wordsOf(fact.text, options);
  index.addFact(fact.id, fact.session ?? 0, words);
}

/** Searchable facts of a session: its date and agent. */
function aboutText({ startedAt, agent }: FeedSession): string {
  const date = new Date(startedAt);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  return `${day}\n${agent}`;
}

/**
 * A session's folder, by its whole name. The parts of `fix-session-date` are common words but rare
 * as folder names, so they would rank a session above those about the subject. So would a
 * worktree's number.
 */
function projectTerms({ projectPath }: FeedSession, language: Language): readonly string[] {
  const name = redact(projectPath?.split(/[\\/]/).at(-1) ?? "").text;
  const terms: string[] = [];
  tokenize(name, 0, MORPHOLOGIES[language], (term, _position, _start, _end, kind) => {
    if (kind !== "part" && !isTrivialName(term)) terms.push(term);
  });
  return terms;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

function wordsOf(text: string, options: IndexingOptions): Words {
  return (into) => analyzeWords(redact(text).text, 0, options.language, into);
}

/** Metadata keys that affect indexing; most metadata has none and is not parsed. */
export function decidingMetadata(text: string | null): JsonObject {
  const mayDecide = text !== null && INJECTED_METADATA.some((key) => text.includes(key));
  return mayDecide ? soundObject(text) : {};
}

/** Empty for damaged JSON: the index skips it. */
function soundObject(text: string): JsonObject {
  try {
    return (JSON.parse(text) ?? {}) as JsonObject;
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function toolNameOf(block: FeedEntry["blocks"][number]): string | undefined {
  return block.type === "tool_result" ? block.toolName : undefined;
}
