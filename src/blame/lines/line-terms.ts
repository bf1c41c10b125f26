/**
 * The terms by which the index finds the lines that a message adds or removes, the files that it
 * changes and the commits that it makes.
 *
 * A term has a hash instead of the line, keyed by the store, so that segments of two stores have
 * nothing in common. White space does not count; lines with hardly a letter have no terms.
 */

import { type Block, inputTextOf, textOf } from "../../model/block.ts";
import { changedLines } from "./changed-lines.ts";

/** What a term stands for. `file`: the last part of a path; `commit`: its hash. */
export type LineKind = "added" | "removed" | "file" | "subject" | "commit";

const MARKS: Readonly<Record<LineKind, string>> = {
  added: "+:",
  removed: "-:",
  file: "/:",
  subject: "=:",
  commit: "#:",
};

/** Characters of a commit's hash in a term: git shows at least so many. */
const COMMIT_CHARACTERS = 7;
const MIN_LETTERS = 6;
/** Longer lines are data. */
const MAX_LINE = 1_000;
/** A longer message has generated lines. */
const MAX_LINES = 5_000;

/** The line as it is compared; undefined if it is trivial. */
export function plainLine(line: string): string | undefined {
  if (line.length > MAX_LINE) return undefined;
  const plain = line.replace(/\s+/g, "");
  return (plain.match(/[\p{L}\p{N}_]/gu)?.length ?? 0) < MIN_LETTERS ? undefined : plain;
}

/** The term of a text; undefined if it is trivial. */
export function lineTerm(kind: LineKind, text: string, key: string): string | undefined {
  if (kind === "commit") return `${MARKS.commit}${text.slice(0, COMMIT_CHARACTERS)}`;
  const plain = kind === "file" ? baseName(text) : plainLine(text);
  return plain === undefined ? undefined : `${MARKS[kind]}${hash(plain, key)}`;
}

/** Of a file whose name a command does not tell. */
export const ANY_FILE = "";

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** `isSecret` says which lines are left out. */
export function lineTerms(
  blocks: readonly Block[],
  key: string,
  hasSecret: (text: string) => boolean,
): ReadonlySet<string> {
  const terms = new Set<string>();
  const add = (kind: LineKind, text: string) => {
    const term = terms.size > MAX_LINES ? undefined : lineTerm(kind, text, key);
    if (term !== undefined) terms.add(term);
  };
  for (const block of blocks) {
    if (block.type === "tool_use") {
      const { changes, subjects } = changedLines(block.name, inputTextOf(block));
      for (const { path, added, removed } of changes) {
        add("file", path);
        const isMasked = hasSecret([...added, ...removed].join("\n"));
        const shown = (line: string) => !isMasked || !hasSecret(line);
        for (const line of added) if (shown(line)) add("added", line);
        for (const line of removed) if (shown(line)) add("removed", line);
      }
      for (const subject of subjects) add("subject", subject);
    } else if (block.type === "tool_result") {
      const output = typeof block.output === "string" ? block.output : textOf(block.output);
      for (const commit of commitsIn(output)) add("commit", commit);
    }
  }
  return terms;
}

/** What `git commit` prints: `[main 9fceb02] The subject`. */
const COMMITTED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] \S/gm;

/** The hashes of the commits that a tool's output reports as made. */
function commitsIn(output: string): readonly string[] {
  if (!output.includes("] ")) return [];
  return Array.from(output.matchAll(COMMITTED), ([, commit]) => commit as string);
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/** 30 bits: of a million lines, one in a thousand has another's. Evidence is several lines. */
function hash(text: string, key: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (const part of [key, "\0", text]) {
    for (let i = 0; i < part.length; i++) {
      const code = part.charCodeAt(i);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  let digits = "";
  for (let shift = 0; shift < 30; shift += 6) digits += DIGITS[(high >>> shift) & 63];
  return digits;
}
