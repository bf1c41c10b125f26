/** Our own search over labelled conversations, through the public API. */

import {
  type Embedder,
  type Engine,
  type OpenOptions,
  open,
  type SessionHandle,
} from "../src/index.ts";
import type { RankingProfile } from "../src/search/score/profile.ts";
import type { LabelledSession, Question } from "./recall-data.ts";
import type { Found, Ranker } from "./recall-figures.ts";

/** Messages that are appended at a time. */
const BATCH = 100;

/** A generous deadline: answers are measured, not times. */
const PATIENCE_MS = 60_000;

/** Options of `open` that wait for every answer, and for vectors. */
export function patientOptions(embedder: Embedder | undefined): OpenOptions {
  const patient = { embedDeadlineMs: PATIENCE_MS, searchDeadlineMs: PATIENCE_MS };
  return embedder === undefined ? patient : { ...patient, embedder };
}

/** Conversations in a store, each a project of its own. */
export class RecallStore {
  readonly #engine: Engine;
  readonly #sessions = new Map<string, LabelledSession>();
  /** By conversation: its first session. */
  readonly #first = new Map<string, SessionHandle>();
  /** Labelled ids of messages, by entry. */
  readonly #messages = new Map<string, string>();

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** With an embedder, everything has its vector, and queries wait for theirs. */
  static async fill(
    sessions: Iterable<LabelledSession>,
    embedder?: Embedder,
    address = ":memory:",
  ): Promise<RecallStore> {
    const store = new RecallStore(await open(address, patientOptions(embedder)));
    for (const session of sessions) await store.#add(session);
    if (embedder !== undefined) await store.#engine.embedStored();
    return store;
  }

  /** `own`: only the question's own conversation is searched. */
  ranker(ranking: Partial<RankingProfile>, haystack: "own" | "all"): Ranker {
    const search = (question: Question, perSession: number) =>
      this.#search(question, ranking, haystack === "own", perSession);
    return {
      sessions: (question) => search(question, 1),
      messages: (question) => search(question, 20),
    };
  }

  /** The messages of the conversation's first session that it recalls for the question. */
  async recall({ question, conversation }: Question, k: number): Promise<string[]> {
    const session = this.#first.get(conversation) as SessionHandle;
    const found: string[] = [];
    for await (const recalled of session.recall(question, { k })) {
      if (recalled.type === "message") found.push(this.#messages.get(recalled.entry.id) as string);
    }
    return found;
  }

  async close(): Promise<void> {
    await this.#engine.close();
  }

  async #add(session: LabelledSession): Promise<void> {
    const startedAt = Date.parse(session.startedAt);
    const stored = await this.#engine.createSession({
      agent: "agent",
      createdBy: "bench",
      startedAt,
      origin: { projectId: session.conversation },
    });
    this.#sessions.set(stored.id, session);
    if (!this.#first.has(session.conversation)) this.#first.set(session.conversation, stored);
    const messages = session.messages.map(({ role, actor, text, at }, i) => ({
      role,
      ...(actor === undefined ? {} : { actor }),
      content: text === "" ? " " : text,
      createdAt: at ?? startedAt + i,
    }));
    for (let i = 0; i < messages.length; i += BATCH) {
      const entries = await stored.append(messages.slice(i, i + BATCH));
      for (const [j, { id }] of entries.entries()) {
        this.#messages.set(id, session.messages[i + j]?.id as string);
      }
    }
  }

  async #search(
    { question, conversation }: Question,
    ranking: Partial<RankingProfile>,
    isOwn: boolean,
    perSession: number,
  ): Promise<Found[]> {
    const { hits } = await this.#engine.searchSessions(question, {
      limit: 20,
      perSession,
      contextBefore: 0,
      contextAfter: 0,
      ranking,
      ...(isOwn ? { project: conversation } : {}),
    });
    return hits.map(({ sessionId, index }) => {
      const session = this.#sessions.get(sessionId) as LabelledSession;
      const message = index === null ? null : (session.messages[index]?.id ?? null);
      return { conversation: session.conversation, session: session.session, message };
    });
  }
}
