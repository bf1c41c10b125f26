/** Our own search over labelled conversations. */

import { runNow } from "../src/search/drive.ts";
import { maintainIndex } from "../src/search/maintain/maintain.ts";
import { SearchMemory, type TenantMemory } from "../src/search/memory.ts";
import type { RankingProfile } from "../src/search/score/profile.ts";
import { searchSessions } from "../src/search/search.ts";
import { IndexModel } from "../test/support/index-model.ts";
import type { LabelledSession, Question } from "./recall-data.ts";
import type { Found, Ranker } from "./recall-figures.ts";

const INDEXING = { language: "english", tools: "names", unicode: "bench" } as const;

/** Conversations in a store, each a project of its own. */
export class RecallStore {
  readonly #model = new IndexModel();
  readonly #memory: TenantMemory;
  readonly #sessions: LabelledSession[] = [];

  constructor(sessions: Iterable<LabelledSession>) {
    this.#memory = new SearchMemory({ indexing: INDEXING, clock: () => 0 }).tenant("bench");
    for (const session of sessions) this.#add(session);
    this.#buildIndex();
  }

  /** `own`: only the question's own conversation is searched. */
  ranker(profile: RankingProfile, haystack: "own" | "all"): Ranker {
    const search = (question: Question, perSession: number) =>
      this.#search(question, profile, haystack === "own", perSession);
    return {
      sessions: (question) => search(question, 1),
      messages: (question) => search(question, 20),
    };
  }

  close(): void {}

  #add(session: LabelledSession): void {
    const startedAt = Date.parse(session.startedAt);
    const number = this.#model.createSession({ project: session.conversation, startedAt });
    this.#sessions[number] = session;
    for (const [i, { role, text, actor }] of session.messages.entries()) {
      this.#model.append(number, role, text, { actor, time: startedAt + i });
    }
  }

  #buildIndex(): void {
    let newest = 0;
    for (const task of ["flush", "merge"] as const) {
      for (let more = true; more; ) {
        const options = { indexing: INDEXING, flushAt: 1, unreadable: new Set<number>() };
        const step = maintainIndex(task, { ...options, newSegment: () => ++newest });
        ({ more } = runNow(step, this.#model.answer));
      }
    }
  }

  #search(
    question: Question,
    profile: RankingProfile,
    isOwn: boolean,
    perSession: number,
  ): Found[] {
    const answer = runNow(
      searchSessions(
        {
          query: question.question,
          match: "any",
          now: Date.now(),
          limit: 20,
          perSession,
          before: 0,
          after: 0,
          scope: isOwn ? { projects: [question.conversation] } : {},
          branches: "active",
          profile,
          explain: false,
          deadlineMs: 60_000,
        },
        this.#memory,
      ),
      this.#model.answer,
    );
    return answer.hits.map(({ sessionId, index }) => {
      const session = this.#sessions[Number(sessionId.slice(1))] as LabelledSession;
      const message = index === null ? null : (session.messages[index]?.id ?? null);
      return { conversation: session.conversation, session: session.session, message };
    });
  }
}
