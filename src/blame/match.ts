/**
 * Which sessions wrote a commit, and each of its lines? Pure: from the lines of the commit and the
 * messages that the index found for them.
 *
 * A line counts for the sessions that changed it in a file of the same name before the commit, in
 * equal parts. A line that the commit only moves counts for nobody. The limits were chosen on 241
 * labelled commits: docs/decisions/blame.md.
 */

import type { BLAME_COMMIT } from "../model/answers/blame.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { FoundLines, LinesRequest } from "../search/request.ts";
import { ANY_FILE, baseName, plainLine } from "./lines/line-terms.ts";

export interface Commit extends FieldsOf<typeof BLAME_COMMIT> {}

export type Sure = "yes" | "maybe";

/** Why a session is named. */
export interface Reasons {
  /** Its tool's output reports the commit. */
  readonly made: boolean;
  /** It gave the commit its subject. */
  readonly named: boolean;
  /** Lines of the commit that it changed, of those that count. */
  readonly lines: number;
  readonly of: number;
}

export interface Writer {
  /** An index into the sessions of the found lines. */
  readonly session: number;
  /** Of the commit's lines, those of others counted in part. */
  readonly share: number;
  readonly sure: Sure;
  readonly reasons: Reasons;
  /** The edit with most of the lines, else the message that made the commit. */
  readonly edit: number;
  /** Lines of the commit from that edit. */
  readonly editLines: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Clocks differ, and an edit may be stored after its commit. */
const SLACK = 5 * MINUTE;
/** A commit is made or named at its own time. */
const SAME_TIME = HOUR;
/** An edit long before the commit is likely to have been committed before, and moved. */
const RECENT = 24 * HOUR;
const NEAR = 3 * HOUR;

/** The lines to ask the index for, each once, and where each is. */
export class Asked {
  readonly lines: { kind: LinesRequest["lines"][number]["kind"]; text: string }[] = [];
  readonly #places = new Map<string, number>();

  constructor(commits: readonly Commit[]) {
    this.#add("file", ANY_FILE);
    for (const { commit, subject, files } of commits) {
      this.#add("commit", commit);
      this.#add("subject", subject);
      for (const { path, added, removed } of files) {
        this.#add("file", path);
        for (const line of added) this.#add("added", line);
        for (const line of removed) this.#add("removed", line);
      }
    }
  }

  #add(kind: LinesRequest["lines"][number]["kind"], text: string): void {
    const key = keyOf(kind, text);
    if (key === undefined || this.#places.has(key)) return;
    this.#places.set(key, this.lines.push({ kind, text }) - 1);
  }

  at(kind: LinesRequest["lines"][number]["kind"], text: string): number | undefined {
    return this.#places.get(keyOf(kind, text) ?? "");
  }
}

function keyOf(kind: LinesRequest["lines"][number]["kind"], text: string): string | undefined {
  const plain =
    kind === "file" ? baseName(text) : kind === "commit" ? text.slice(0, 7) : plainLine(text);
  return plain === undefined ? undefined : `${kind} ${plain}`;
}

/** Matches commits with what was found for them. */
export class Matcher {
  readonly #asked: Asked;
  readonly #found: FoundLines;
  readonly #files = new Map<string, ReadonlySet<number>>();
  readonly #moving = new Map<Commit, boolean>();
  readonly #removed = new Map<Commit["files"], ReadonlyMap<string, string>>();

  constructor(asked: Asked, found: FoundLines) {
    this.#asked = asked;
    this.#found = found;
  }

  /** The sessions that wrote a commit: the surest first. */
  writers(commit: Commit): readonly Writer[] {
    const { total, tallies } = this.#count(commit);
    const made = this.#sessionsOf("commit", commit.commit, commit.committedAt);
    const named = this.#sessionsOf("subject", commit.subject, commit.authoredAt);
    for (const [session, edit] of [...made, ...named]) tallyOf(tallies, session).committed ??= edit;
    const ranked = [...tallies].sort(
      ([a, first], [b, second]) =>
        Number(made.has(b)) - Number(made.has(a)) ||
        Number(named.has(b)) - Number(named.has(a)) ||
        second.weight - first.weight ||
        second.last - first.last,
    );
    return ranked.flatMap(([session, tally], rank) => {
      const { weight, lines, last } = tally;
      const share = total === 0 ? 0 : weight / total;
      const reasons = { made: made.has(session), named: named.has(session), lines, of: total };
      const away = Math.min(
        Math.abs(commit.committedAt - last),
        Math.abs(commit.authoredAt - last),
      );
      const sure = verdict({ ...reasons, weight, share, away, rank }, isRevert(commit));
      if (sure === undefined) return [];
      const [edit, editLines] = bestOf(tally);
      return edit === undefined ? [] : [{ session, share, sure, reasons, edit, editLines }];
    });
  }

  /** The edits that may have written a line of a commit: the newest first. */
  editsOf(line: string, path: string, commit: Pick<Commit, "committedAt">): readonly number[] {
    const hits = this.#hits("added", line, path, commit.committedAt);
    return hits.toSorted((a, b) => this.#edit(b).at - this.#edit(a).at);
  }

  /** Whether a commit only moves or formats a line. */
  moves({ files }: Pick<Commit, "files">, line: string): boolean {
    const plain = plainLine(line);
    if (plain === undefined) return false;
    const known = this.#removed.get(files) ?? plainLines(files.flatMap(({ removed }) => removed));
    this.#removed.set(files, known);
    return known.has(plain);
  }

  /** Whether it changes nothing else: a formatter's commit. */
  onlyMoves(commit: Commit): boolean {
    const known = this.#moving.get(commit) ?? this.#count(commit).total === 0;
    this.#moving.set(commit, known);
    return known;
  }

  sessionOf(edit: number): number {
    return this.#edit(edit).session;
  }

  timeOf(edit: number): number {
    return this.#edit(edit).at;
  }

  #count({ files, committedAt }: Commit): {
    readonly total: number;
    readonly tallies: Map<number, Tally>;
  } {
    const tallies = new Map<number, Tally>();
    let total = 0;
    const moved = {
      added: plainLines(files.flatMap(({ removed }) => removed)),
      removed: plainLines(files.flatMap(({ added }) => added)),
    };
    for (const file of files) {
      for (const side of ["added", "removed"] as const) {
        for (const [plain, line] of plainLines(file[side])) {
          if (moved[side].has(plain)) continue;
          total++;
          const hits = this.#hits(side, line, file.path, committedAt);
          const sessions = new Set(hits.map((edit) => this.#edit(edit).session));
          for (const session of sessions) {
            const tally = tallyOf(tallies, session);
            tally.weight += 1 / sessions.size;
            tally.lines++;
          }
          for (const edit of hits) {
            const { session, at } = this.#edit(edit);
            const tally = tallyOf(tallies, session);
            tally.last = Math.max(tally.last, at);
            tally.edits.set(edit, (tally.edits.get(edit) ?? 0) + 1);
          }
        }
      }
    }
    return { total, tallies };
  }

  /** Edits of a line in a file of that name, before the commit. */
  #hits(
    side: "added" | "removed",
    line: string,
    path: string,
    committedAt: number,
  ): readonly number[] {
    const place = this.#asked.at(side, line);
    if (place === undefined) return [];
    const inFile = this.#fileEdits(path);
    const anywhere = this.#fileEdits(ANY_FILE);
    return (this.#found.found[place] ?? []).filter(
      (edit) =>
        this.#edit(edit).at <= committedAt + SLACK && (inFile.has(edit) || anywhere.has(edit)),
    );
  }

  #fileEdits(path: string): ReadonlySet<number> {
    const name = baseName(path);
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    const place = this.#asked.at("file", path);
    const edits = new Set(place === undefined ? [] : this.#found.found[place]);
    this.#files.set(name, edits);
    return edits;
  }

  /** The sessions that made or named the commit, each with the message. */
  #sessionsOf(kind: "commit" | "subject", text: string, at: number): ReadonlyMap<number, number> {
    const place = this.#asked.at(kind, text);
    const edits = place === undefined ? [] : (this.#found.found[place] ?? []);
    const near = edits.filter((edit) => Math.abs(this.#edit(edit).at - at) <= SAME_TIME);
    return new Map(near.map((edit) => [this.#edit(edit).session, edit]));
  }

  #edit(edit: number): FoundLines["edits"][number] {
    return this.#found.edits[edit] as FoundLines["edits"][number];
  }
}

/** What a session has of a commit. */
interface Tally {
  weight: number;
  lines: number;
  /** The time of its last edit. */
  last: number;
  readonly edits: Map<number, number>;
  /** The message that made or named the commit. */
  committed: number | undefined;
}

function tallyOf(tallies: Map<number, Tally>, session: number): Tally {
  const known = tallies.get(session);
  if (known !== undefined) return known;
  const tally: Tally = { weight: 0, lines: 0, last: 0, edits: new Map(), committed: undefined };
  tallies.set(session, tally);
  return tally;
}

function bestOf({ edits, committed }: Tally): readonly [edit: number | undefined, lines: number] {
  let [best, most] = [committed, 0];
  for (const [edit, lines] of edits) if (lines >= most) [best, most] = [edit, lines];
  return [best, most];
}

function plainLines(lines: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of lines) {
    const plain = plainLine(line);
    if (plain !== undefined) found.set(plain, line);
  }
  return found;
}

/** Its lines are those of the session that wrote them first. */
function isRevert({ subject }: Pick<Commit, "subject">): boolean {
  return subject.startsWith('Revert "');
}

interface Figures extends Reasons {
  readonly weight: number;
  readonly share: number;
  /** Milliseconds between its last edit and the commit. */
  readonly away: number;
  /** 0: no other session has more. */
  readonly rank: number;
}

function verdict(
  { made, named, lines, of, weight, share, away, rank }: Figures,
  reverts: boolean,
): Sure | undefined {
  // Who commits the work of others writes hardly a line of it.
  if (made || named) return of >= 20 && lines < of / 20 ? "maybe" : "yes";
  const isOld = away > RECENT;
  if (share >= 0.3 && weight >= 2 && !reverts) {
    if (!isOld || (share >= 0.8 && weight >= 5)) return "yes";
  }
  if (rank > 0) return share >= 0.2 && weight >= 3 && !isOld ? "maybe" : undefined;
  if (share >= 0.15 && weight >= 1 && !isOld) return "maybe";
  if (share >= 0.3 && weight >= 3) return "maybe";
  return weight >= 1 && away <= NEAR ? "maybe" : undefined;
}
