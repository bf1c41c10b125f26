/**
 * Which conversation wrote a commit, or each of some lines? What git knows of them comes from the
 * caller, who has the repository; the store has the conversations.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import type {
  BLAME,
  BLAME_COMMIT,
  BLAME_LINE,
  BLAMED,
  BLAMED_SESSION,
} from "../model/answers/blame.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields, checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { isSubAgent, type Session } from "../model/session.ts";
import type { FieldsOf } from "../model/shape.ts";
import { foundSession, unlessDeleted } from "../recap/found-session.ts";
import type { FoundLines } from "../search/request.ts";
import { ownIdOf } from "../store/session-ref.ts";
import { Explainer, type Explanation } from "./explain.ts";
import { plainLine } from "./lines/line-terms.ts";
import { Asked, Matcher, type Sure, type Writer } from "./match.ts";

export interface BlamedCommit extends FieldsOf<typeof BLAME_COMMIT> {}
export interface BlamedLine extends FieldsOf<typeof BLAME_LINE> {}

export interface BlameInput {
  readonly commits: readonly BlamedCommit[];
  /** In their order, of the file `path`; absent: the commits are asked for. */
  readonly lines?: readonly BlamedLine[];
  readonly path?: string;
}

export interface Blame extends FieldsOf<typeof BLAME> {}
export interface Blamed extends FieldsOf<typeof BLAMED> {}
export interface BlamedSession extends FieldsOf<typeof BLAMED_SESSION> {}

/** A tenant of a server blames there, in one request. */
type Blaming = TenantApi & { blameWork?(input: BlameInput): Promise<Blame> };

const MAX_COMMITS = 1_000;
const MAX_LINES = 5_000;
/** Lines that are asked for at once. */
export const BATCH = 20_000;
/** Of one commit in a request, beside those before it. */
const MOST_SENT = 3 * BATCH;

export async function blameWork(tenant: Blaming, input: BlameInput): Promise<Blame> {
  const { commits, lines, path = "" } = checkFields(input, "options", INPUTS.blameWork);
  checkCount("commits", commits.length, MAX_COMMITS, "ask for fewer commits");
  for (const commit of commits) {
    checkPart(commit, "commits", INPUTS["blameWork.commits"]);
    for (const file of commit.files) checkPart(file, "files", INPUTS["blameWork.files"]);
  }
  for (const line of lines ?? []) checkPart(line, "lines", INPUTS["blameWork.lines"]);
  checkCount("lines", lines?.length ?? 0, MAX_LINES, "ask for a part of the file");
  if (tenant.blameWork !== undefined) {
    const parts: Blame[] = [];
    // A request is bounded.
    for (const batch of batches(commits)) {
      const hashes = new Set(batch.map(({ commit }) => commit));
      const own = lines && { lines: lines.filter(({ commit }) => hashes.has(commit)), path };
      parts.push(await tenant.blameWork({ commits: batch.map(bounded), ...own }));
    }
    return {
      answers: inOrder(
        parts.flatMap(({ answers }) => answers),
        lines,
      ),
      incomplete: parts.some(({ incomplete }) => incomplete),
    };
  }
  const reader = new Reader(tenant);
  const answers: Blamed[] = [];
  let incomplete = false;
  for (const batch of batches(commits)) {
    const asked = new Asked(batch);
    const found = await findLines(tenant, asked.lines);
    incomplete ||= found.indexing;
    const matcher = new Matcher(asked, found);
    const writers = new Map<string, readonly Claim[]>();
    for (const commit of batch) {
      writers.set(commit.commit, await reader.claims(commit, matcher.writers(commit), found));
    }
    const subjects =
      lines === undefined
        ? batch.map((commit) => ({ commit, lines: null, claims: writers.get(commit.commit) ?? [] }))
        : await runsOf(lines, path, batch, { matcher, reader, found }, writers);
    await reader.locate(subjects, found);
    for (const subject of subjects) answers.push(await reader.answer(subject, found));
  }
  return { incomplete, answers: inOrder(answers, lines) };
}

function inOrder(answers: readonly Blamed[], lines: BlameInput["lines"]): readonly Blamed[] {
  if (lines === undefined) return answers;
  return answers.toSorted((a, b) => (a.lines?.first ?? 0) - (b.lines?.first ?? 0));
}

function checkCount(field: string, count: number, most: number, way: string): void {
  if (count <= most) return;
  throw new BackscrollError(
    "invalid_input",
    `${field} has ${count} items, at most ${most}: ${way}`,
    {
      details: { field, limit: most },
    },
  );
}

/** The changed lines of commits. */
export function countLines(commits: readonly Pick<BlamedCommit, "files">[]): number {
  const files = commits.flatMap((commit) => commit.files);
  return files.reduce((sum, { added, removed }) => sum + added.length + removed.length, 0);
}

/** A commit that one request can hold: of its longest files, which are generated, the beginnings. */
function bounded(commit: BlamedCommit): BlamedCommit {
  let { files } = commit;
  let most = Math.max(0, ...files.flatMap(({ added, removed }) => [added.length, removed.length]));
  while (countLines([{ files }]) > MOST_SENT && most > 1) {
    most = Math.ceil(most / 2);
    files = files.map(({ path, added, removed }) => {
      return { path, added: added.slice(0, most), removed: removed.slice(0, most) };
    });
  }
  return { ...commit, files };
}

function* batches(commits: readonly BlamedCommit[]): Iterable<readonly BlamedCommit[]> {
  let [batch, size] = [[] as BlamedCommit[], 0];
  for (const commit of commits) {
    batch.push(commit);
    size += countLines([commit]);
    if (size < BATCH) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

async function findLines(tenant: TenantApi, lines: Asked["lines"]): Promise<FoundLines> {
  if (tenant.findLines !== undefined) return tenant.findLines(lines);
  throw new BackscrollError("invalid_input", "this tenant has no index of lines", {
    details: { field: "tenant" },
  });
}

/** That a session wrote a commit. */
interface Claim extends Omit<Writer, "session" | "edit"> {
  /** Of a sub-agent, the session that started it. */
  readonly session: Session;
  /** Itself and its sub-agents that wrote, as indexes into the found sessions. */
  readonly members: readonly number[];
  /** Undefined: only a trailer names the session. */
  readonly edit: number | undefined;
  readonly how: "lines" | "trailer" | "moved";
}

interface Subject {
  readonly commit: BlamedCommit;
  readonly lines: { readonly path: string; readonly first: number; readonly last: number } | null;
  readonly claims: readonly Claim[];
}

/** What was found for a batch of commits. */
interface Matched {
  readonly matcher: Matcher;
  readonly reader: Reader;
  readonly found: FoundLines;
}

/** Lines next to each other from one commit and one session. */
async function runsOf(
  lines: readonly BlamedLine[],
  path: string,
  commits: readonly BlamedCommit[],
  matched: Matched,
  writers: ReadonlyMap<string, readonly Claim[]>,
): Promise<readonly Subject[]> {
  const byHash = new Map(commits.map((commit) => [commit.commit, commit]));
  const runs: (Subject & { lines: { path: string; first: number; last: number } })[] = [];
  let edits = new Map<number, number>();
  let last: LineClaim | undefined;
  for (const line of lines) {
    const commit = byHash.get(line.commit);
    if (commit === undefined) continue;
    const run = runs.at(-1);
    const isNext = run?.commit === commit && run.lines.last === line.number - 1;
    const claim: LineClaim | undefined =
      isNext && plainLine(line.text) === undefined
        ? last
        : await lineClaim(line, commit, matched, writers.get(commit.commit) ?? []);
    const isSame =
      isNext && last?.claim?.session.id === claim?.claim?.session.id && last?.sure === claim?.sure;
    if (!isSame) edits = new Map();
    if (claim?.edit !== undefined && claim !== last) {
      edits.set(claim.edit, (edits.get(claim.edit) ?? 0) + 1);
    }
    const [edit, editLines] = [...edits].reduce((best, each) => (each[1] > best[1] ? each : best), [
      claim?.claim?.edit,
      0,
    ] as readonly [number | undefined, number]);
    const claims =
      claim?.claim === undefined ? [] : [{ ...claim.claim, sure: claim.sure, edit, editLines }];
    const first = isSame && run !== undefined ? run.lines.first : line.number;
    if (isSame) runs.pop();
    runs.push({ commit, lines: { path, first, last: line.number }, claims });
    last = claim;
  }
  return runs;
}

interface LineClaim {
  readonly claim: Claim | undefined;
  readonly sure: Sure;
  readonly edit: number | undefined;
}

/**
 * The session of the commit that wrote the line, or of a line that the commit moves or formats; else
 * the commit's own, if it wrote most of it: what a formatter made of its lines is its line, too.
 */
async function lineClaim(
  line: BlamedLine,
  commit: BlamedCommit,
  { matcher, reader, found }: Matched,
  claims: readonly Claim[],
): Promise<LineClaim | undefined> {
  const { text, path } = line;
  const edits = matcher.editsOf(text, path, commit);
  for (const edit of edits) {
    const session = matcher.sessionOf(edit);
    const claim = claims.find(({ members }) => members.includes(session));
    if (claim !== undefined) return { claim, sure: claim.sure, edit };
  }
  const [edit] = edits;
  if (edit !== undefined && matcher.moves(commit, text)) {
    const sessions = new Set(edits.map((each) => matcher.sessionOf(each)));
    const isSure = sessions.size === 1 && matcher.onlyMoves(commit);
    const claim = await reader.mover(edit, found);
    if (claim !== undefined) return { claim, sure: isSure ? "yes" : "maybe", edit };
  }
  const [first] = claims;
  if (first === undefined) return undefined;
  const isMost = first.share >= MOST || (first.how === "trailer" && claims.length === 1);
  const isTrivial = plainLine(text) === undefined;
  if (!isMost && !isTrivial) return undefined;
  return { claim: first, sure: isTrivial ? first.sure : "maybe", edit: undefined };
}

const MOST = 0.5;

/** Reads sessions and their edits, each once. */
class Reader {
  readonly #tenant: TenantApi;
  readonly #explainer: Explainer;
  readonly #sessions = new Map<string, Promise<Session | undefined>>();
  readonly #parents = new Map<string, Promise<Session | undefined>>();
  readonly #located = new Map<string, FoundLines["shown"][number]>();
  readonly #explained = new Map<string, Promise<Explanation | undefined>>();

  constructor(tenant: TenantApi) {
    this.#tenant = tenant;
    this.#explainer = new Explainer(tenant);
  }

  async claims(
    commit: BlamedCommit,
    writers: readonly Writer[],
    found: FoundLines,
  ): Promise<readonly Claim[]> {
    const claims: Claim[] = [];
    for (const { session: number, ...writer } of writers) {
      const wrote = await this.#session(found.sessions[number]);
      if (wrote === undefined) continue;
      const session = await this.#rootOf(wrote);
      const at = claims.findIndex((claim) => claim.session.id === session.id);
      const claim = { ...writer, session, members: [number], how: "lines" } as const;
      const known = claims[at];
      if (known === undefined) claims.push(claim);
      else claims[at] = joined(known, claim);
    }
    for (const id of commit.named ?? []) {
      const session = await this.#named(id);
      if (session === undefined) continue;
      const at = claims.findIndex((claim) => claim.session.id === session.id);
      const [known] = at < 0 ? [] : claims.splice(at, 1);
      claims.unshift({ ...NO_LINES, ...known, session, sure: "yes", how: "trailer" });
    }
    return claims;
  }

  /** Of a line that its commit moves, the session that wrote it. */
  async mover(edit: number, found: FoundLines): Promise<Claim | undefined> {
    const session = await this.#session(found.sessions[found.edits[edit]?.session ?? -1]);
    if (session === undefined) return undefined;
    return { ...NO_LINES, session: await this.#rootOf(session), sure: "yes", edit, how: "moved" };
  }

  /** Where the edits are in their sessions, in one read. */
  async locate(subjects: readonly Subject[], found: FoundLines): Promise<void> {
    const edits = subjects.flatMap(({ claims }) => claims.flatMap(({ edit }) => edit ?? []));
    const wanted = [...new Set(edits)].flatMap((edit) => found.edits[edit]?.place ?? []);
    const located = await this.#tenant.findLines?.([], wanted);
    for (const [i, place] of wanted.entries()) {
      this.#located.set(keyOf(place), located?.shown[i] ?? null);
    }
  }

  async answer({ commit, lines, claims }: Subject, found: FoundLines): Promise<Blamed> {
    const sessions: BlamedSession[] = [];
    for (const claim of claims) sessions.push(await this.#blamed(claim, found));
    const isCommitted = !/^0+$/.test(commit.commit);
    return {
      commit: isCommitted ? commit.commit : null,
      subject: commit.subject,
      committedAt: isCommitted ? commit.committedAt : null,
      lines,
      sessions,
    };
  }

  async #blamed(claim: Claim, found: FoundLines): Promise<BlamedSession> {
    const { session, share, sure, edit: number, editLines } = claim;
    const place = number === undefined ? undefined : found.edits[number];
    const wrote = place && (await this.#session(found.sessions[place.session]));
    const edit = place && wrote && (await this.#explain(wrote.id, place));
    const isOther = wrote !== undefined && wrote.id !== session.id;
    const { id, shortId, title, agent, owner, origin } = session;
    return {
      id,
      sourceId: ownIdOf(origin),
      shortId,
      title,
      agent,
      owner,
      share,
      sure,
      asked: edit?.asked ?? null,
      because: edit?.because ?? null,
      edit:
        edit === undefined || edit.changes.length === 0
          ? null
          : {
              index: edit.index,
              entryId: edit.entryId,
              tool: edit.tool,
              path: edit.changes[0]?.path || null,
              at: place?.at ?? 0,
              lines: editLines,
              total: linesOf(edit),
            },
      tests: edit?.tests ?? null,
      reasons: [
        ...reasonsOf(claim),
        ...(isOther ? [`by its sub-agent ${wrote.shortId}, whose messages these are`] : []),
      ],
    };
  }

  /** The session that started a sub-agent, if it is stored. */
  async #rootOf(session: Session): Promise<Session> {
    const key = isSubAgent(session) && (session.metadata["parent"] as { key?: string }).key;
    if (!key) return session;
    const parent = this.#parents.get(key) ?? this.#tenant.findSessionByOrigin(key);
    this.#parents.set(key, parent);
    return (await parent) ?? session;
  }

  /** Of what a commit names, which is anybody's text: only a whole id counts, of one session. */
  async #named(id: string): Promise<Session | undefined> {
    const session = await this.#session(id).catch((error: unknown) => {
      const { code } = BackscrollError.is(error) ? error : {};
      if (code !== "session_ambiguous" && code !== "invalid_input") throw error;
      return undefined;
    });
    return session?.id === id || (session && ownIdOf(session.origin) === id) ? session : undefined;
  }

  async #session(id: string | null | undefined): Promise<Session | undefined> {
    if (id === null || id === undefined) return undefined;
    const known = this.#sessions.get(id) ?? foundSession(this.#tenant, id);
    this.#sessions.set(id, known);
    return known;
  }

  #explain(
    sessionId: string,
    { place }: FoundLines["edits"][number],
  ): Promise<Explanation | undefined> {
    const key = keyOf(place);
    const known =
      this.#explained.get(key) ??
      unlessDeleted(async () => {
        const entry = this.#located.get(key);
        return entry ? this.#explainer.explain(sessionId, entry.id, entry.index) : undefined;
      });
    this.#explained.set(key, known);
    return known;
  }
}

function keyOf({ session, sequence }: FoundLines["edits"][number]["place"]): string {
  return `${session}/${sequence}`;
}

function joined(claim: Claim, more: Claim): Claim {
  const [first, second] = [claim.reasons, more.reasons];
  return {
    ...claim,
    share: Math.min(1, claim.share + more.share),
    members: [...claim.members, ...more.members],
    reasons: {
      made: first.made || second.made,
      named: first.named || second.named,
      lines: Math.min(first.of, first.lines + second.lines),
      of: first.of,
    },
  };
}

const NO_LINES = {
  members: [],
  share: 0,
  reasons: { made: false, named: false, lines: 0, of: 0 },
  edit: undefined,
  editLines: 0,
};

function linesOf({ changes }: Explanation): number {
  const lines = changes.flatMap(({ added, removed }) => [...added, ...removed]);
  return new Set(lines.flatMap((line) => plainLine(line) ?? [])).size;
}

function reasonsOf({ reasons, how }: Claim): string[] {
  const { made, named, lines, of } = reasons;
  return [
    ...(how === "trailer" ? ["the commit names it"] : []),
    ...(how === "moved" ? ["the commit moves or formats what it wrote"] : []),
    ...(made ? ["its tool's output reports the commit"] : []),
    ...(named ? ["it gave the commit its subject"] : []),
    ...(lines > 0 ? [`it wrote ${lines} of ${of} lines`] : []),
  ];
}
