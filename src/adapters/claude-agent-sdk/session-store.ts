/**
 * A session store of the Claude Agent SDK on Backscroll.
 *
 * Each transcript is a session: its key is the SDK's whole key, its project the SDK's project. A
 * sub-agent's transcript is a session of its own that names its parent. Lines with a `uuid` are stored
 * once, by it; lines come back in the order in which they were stored.
 */

import { KeyedQueue } from "../../async/keyed-queue.ts";
import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { Usage } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE, MAX_TITLE_BYTES } from "../../model/limits.ts";
import { combineUsage, totalTokens } from "../../model/prices.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { Session } from "../../model/session.ts";
import { titleOfRequest } from "../../transcript/title/request-title.ts";
import { FROM_REQUEST, isMadeTitle, TITLE_FROM_KEY } from "../../transcript/title/title-text.ts";
import { checkTenant, treePages } from "../common/sessions.ts";
import {
  type Authors,
  type ClaudeEntry,
  type ClaudeSessionKey,
  type ClaudeSessionStore,
  type ClaudeSummary,
  type CountUsage,
  type FoldSummary,
  type ListedSession,
  mainKey,
  projectPrefix,
  readSummaries,
  requestOf,
  SOURCE,
  SUMMARIES,
  sessionIdOf,
  toCustomInput,
  toEntryInput,
  toLine,
  transcriptKey,
} from "./transcripts.ts";

/**
 * The title of a session, from the lines of its transcript.
 *
 * Ranks ascend: a title derived from a request, a model's, the user's.
 */
interface RankedTitle {
  readonly title: string;
  readonly rank: 1 | 2 | 3;
}

const FIELDS: Readonly<Record<string, readonly [string, 2 | 3]>> = {
  "ai-title": ["aiTitle", 2],
  "custom-title": ["customTitle", 3],
};

/** The best title of some lines that is not below `rank`, the last of equals; undefined if none. */
function titleOf(lines: readonly ClaudeEntry[], rank: number): RankedTitle | undefined {
  let best: RankedTitle | undefined;
  for (const line of lines) {
    const found = titleOfLine(line, Math.max(rank, best?.rank ?? 0));
    if (found !== undefined) best = found;
  }
  return best;
}

function titleOfLine(line: ClaudeEntry, rank: number): RankedTitle | undefined {
  const [field, own] = FIELDS[line.type] ?? [];
  if (field === undefined || own === undefined) {
    // The first request names the subject.
    const made = rank > 0 ? undefined : titleOfRequest(requestOf(line) ?? "");
    return made === undefined ? undefined : { title: made.title, rank: 1 };
  }
  const title = line[field];
  if (typeof title !== "string" || title.trim() === "" || own < rank) return undefined;
  // A UTF-16 unit takes at most three bytes.
  return { title: title.trim().slice(0, MAX_TITLE_BYTES / 4), rank: own };
}

/**
 * Usage of answers, counted once: each line of an answer repeats the usage so far.
 *
 * The lines of an answer are close together.
 */
const KEPT_ANSWERS = 64;

class AnswerUsage {
  readonly #told = new RecentMap<string, Usage>(KEPT_ANSWERS);

  /** The usage that a line adds to its answer's earlier lines; null if none. */
  take(answer: string | undefined, usage: Usage): Usage | null {
    if (answer === undefined) return usage;
    const told = this.#told.get(answer);
    this.#told.set(answer, usage);
    if (told === undefined) return usage;
    const more = combineUsage(usage, told, (now, before) => Math.max(0, now - before));
    return totalTokens(more) > 0 ? more : null;
  }
}

export interface ClaudeSessionStoreOptions {
  /** The agent of the sessions, and the author of its answers. Default: `claude-agent-sdk`. */
  readonly agent?: string;
  /** The author of requests. Default: `user`. */
  readonly user?: string;
  /** `foldSessionSummary` of the SDK. Default: loaded from the SDK with the first listing. */
  readonly foldSessionSummary?: FoldSummary;
}

/** `query({ prompt, options: { sessionStore: claudeSessionStore(memory) } })`. */
export function claudeSessionStore(
  tenant: TenantApi,
  options: ClaudeSessionStoreOptions = {},
): ClaudeSessionStore {
  checkTenant(tenant);
  return new Store(tenant, checkFields(options, "options", INPUTS.claudeSessionStore));
}

/** Transcripts whose sessions are known at a time: more than one process runs. */
const KNOWN_TRANSCRIPTS = 1_000;
/**
 * Approximate bytes of JSON per append: half of its limit, because messages are stored beside their
 * lines.
 */
const BATCH_LENGTH = 4 * 1024 * 1024;

interface Transcript {
  readonly session: SessionApi;
  readonly usage: AnswerUsage;
  /** The rank of the title that the session has: see `RankedTitle`. */
  rank: number;
}

class Store implements ClaudeSessionStore {
  readonly #tenant: TenantApi;
  readonly #authors: Authors;
  readonly #fold: FoldSummary | undefined;
  readonly #transcripts = new RecentMap<string, Transcript>(KNOWN_TRANSCRIPTS);
  /** Appends to a transcript keep the order of their calls. */
  readonly #queue = new KeyedQueue();

  constructor(tenant: TenantApi, options: ClaudeSessionStoreOptions) {
    const { agent = SOURCE, user = "user", foldSessionSummary } = options;
    this.#tenant = tenant;
    this.#authors = { agent, user };
    this.#fold = foldSessionSummary;
  }

  async append(key: ClaudeSessionKey, entries: ClaudeEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const lines = structuredClone(entries);
    await this.#queue.run(transcriptKey(key), async () => {
      for (const batch of batchesOf(lines)) await this.#store(key, batch);
    });
  }

  async load(key: ClaudeSessionKey): Promise<ClaudeEntry[] | null> {
    const session = await this.#tenant.findSessionByOrigin(transcriptKey(key));
    if (session === undefined) return null;
    const lines: ClaudeEntry[] = [];
    for await (const page of treePages(this.#tenant.session(session.id), session.entryCount)) {
      for (const entry of page) {
        const line = toLine(entry);
        if (line !== undefined) lines.push(line);
      }
    }
    return lines.length === 0 ? null : lines;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const listed = await this.#listMain(projectKey);
    return listed.map(({ sessionId, session }) => ({ sessionId, mtime: session.lastWriteAt }));
  }

  async listSessionSummaries(projectKey: string): Promise<ClaudeSummary[]> {
    const sessions = await this.#listMain(projectKey);
    return readSummaries(this.#tenant, projectKey, sessions, async () => this.#fold ?? loadFold());
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const prefix = `${mainKey(key)}/`;
    const sessions = await this.#list(prefix);
    return sessions.map(({ origin }) => (origin.key ?? "").slice(prefix.length));
  }

  async delete(key: ClaudeSessionKey): Promise<void> {
    const own = transcriptKey(key);
    await this.#queue.run(own, async () => {
      const main = await this.#tenant.findSessionByOrigin(own);
      const parts = key.subpath === undefined ? await this.#list(`${own}/`) : [];
      for (const session of [...parts, ...(main === undefined ? [] : [main])]) {
        this.#transcripts.delete(session.origin.key ?? "");
        await this.#deleteOne(session.id);
      }
    });
  }

  async #store(key: ClaudeSessionKey, lines: readonly ClaudeEntry[]): Promise<void> {
    try {
      await this.#storeIn(await this.#transcript(key, lines), lines);
    } catch (error) {
      if (!BackscrollError.is(error, "session_not_found")) throw error;
      // Deleted by another caller since the look-up.
      this.#transcripts.delete(transcriptKey(key));
      await this.#storeIn(await this.#transcript(key, lines), lines);
    }
  }

  async #storeIn(transcript: Transcript, lines: readonly ClaudeEntry[]): Promise<void> {
    const { session, usage } = transcript;
    const count: CountUsage = (answer, read) => usage.take(answer, read);
    try {
      await session.appendEntries(lines.map((line) => toEntryInput(line, this.#authors, count)));
    } catch (error) {
      const isRefused =
        BackscrollError.is(error, "invalid_input") || BackscrollError.is(error, "too_large");
      if (!isRefused) throw error;
      for (const line of lines) await this.#storeOne(session, line);
    }
    await this.#setTitle(transcript, lines);
  }

  /** A line that is no valid message, or is too large to be stored twice, is kept all the same. */
  async #storeOne(session: SessionApi, line: ClaudeEntry): Promise<void> {
    try {
      await session.appendEntries([toEntryInput(line, this.#authors, (_, usage) => usage)]);
    } catch (error) {
      const isRefused =
        BackscrollError.is(error, "invalid_input") || BackscrollError.is(error, "too_large");
      if (!isRefused) throw error;
      await session.appendEntries([toCustomInput(line)]);
    }
  }

  async #setTitle(transcript: Transcript, lines: readonly ClaudeEntry[]): Promise<void> {
    const found = titleOf(lines, transcript.rank);
    if (found === undefined) return;
    transcript.rank = found.rank;
    const metadata = { [TITLE_FROM_KEY]: FROM_REQUEST };
    const isMade = found.rank === 1;
    await transcript.session.update({ title: found.title, ...(isMade ? { metadata } : {}) });
  }

  async #transcript(key: ClaudeSessionKey, lines: readonly ClaudeEntry[]): Promise<Transcript> {
    const own = transcriptKey(key);
    const known = this.#transcripts.get(own);
    if (known !== undefined) return known;
    const session = await this.#tenant.ensureSession({
      key: own,
      agent: this.#authors.agent,
      createdBy: this.#authors.user,
      origin: { source: SOURCE, projectId: key.projectKey, ...placeOf(lines) },
      ...(key.subpath === undefined ? {} : { metadata: { parent: { key: mainKey(key) } } }),
    });
    const meta = await session.meta();
    const rank = meta.title === "" ? 0 : isMadeTitle(meta) ? 1 : 3;
    const transcript = { session, usage: new AnswerUsage(), rank };
    this.#transcripts.set(own, transcript);
    return transcript;
  }

  async #listMain(projectKey: string): Promise<ListedSession[]> {
    const sessions = await this.#list(projectPrefix(projectKey));
    return sessions.flatMap((session) => {
      const sessionId = sessionIdOf(session.origin.key ?? "", projectKey);
      return sessionId === undefined || session.entryCount === 0 ? [] : [{ sessionId, session }];
    });
  }

  async #list(keyPrefix: string): Promise<Session[]> {
    const filter = { keyPrefix, source: SOURCE, machineMade: true, limit: MAX_PAGE };
    const sessions: Session[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#tenant.listSessions(
        cursor === undefined ? filter : { ...filter, cursor },
      );
      sessions.push(...page.sessions);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return sessions;
  }

  async #deleteOne(id: string): Promise<void> {
    await unless("session_not_found", this.#tenant.deleteSession(id));
    await unless("record_not_found", this.#tenant.records.delete(SUMMARIES, id));
  }
}

/** A concurrent caller may have been first. */
async function unless(
  code: "session_not_found" | "record_not_found",
  work: Promise<unknown>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!BackscrollError.is(error, code)) throw error;
  }
}

/** Batches of lines, each stored atomically. */
function* batchesOf(lines: readonly ClaudeEntry[]): Generator<ClaudeEntry[]> {
  let batch: ClaudeEntry[] = [];
  let length = 0;
  for (const line of lines) {
    const own = JSON.stringify(line).length;
    if (batch.length === MAX_BATCH_ENTRIES || (batch.length > 0 && length + own > BATCH_LENGTH)) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(line);
    length += own;
  }
  if (batch.length > 0) yield batch;
}

/** The agent's working directory and branch, from the first lines that have them. */
function placeOf(lines: readonly ClaudeEntry[]): {
  readonly projectPath?: string;
  readonly gitBranch?: string;
} {
  const first = (field: string) =>
    lines.map((line) => line[field]).find((value) => typeof value === "string" && value !== "");
  const [projectPath, gitBranch] = [first("cwd"), first("gitBranch")];
  return {
    ...(typeof projectPath === "string" ? { projectPath } : {}),
    ...(typeof gitBranch === "string" ? { gitBranch } : {}),
  };
}

/** Typed as a string, so that the compiler does not resolve it: the package is an optional peer. */
const SDK: string = "@anthropic-ai/claude-agent-sdk";

async function loadFold(): Promise<FoldSummary> {
  const { foldSessionSummary } = (await import(SDK)) as { foldSessionSummary: FoldSummary };
  return foldSessionSummary;
}
