/** An index that is filled, maintained and searched step by step, beside a naive model. */

import fc from "fast-check";
import type { Role } from "../../src/model/entry.ts";
import { type AnswerNow, runNow } from "../../src/search/drive.ts";
import { IndexCache } from "../../src/search/index/index-cache.ts";
import { maintainIndex } from "../../src/search/maintain/maintain.ts";
import type { MaintenanceReport } from "../../src/search/port.ts";
import type { SearchAnswer, SearchRequest } from "../../src/search/request.ts";
import { PLAIN_PROFILE } from "../../src/search/score/profile.ts";
import { searchSessions } from "../../src/search/search.ts";
import { TenantCache } from "../../src/search/search-cache.ts";
import { IndexModel } from "./index-model.ts";

const INDEXING = { language: "english", tools: "names" } as const;

/** A small vocabulary with identifiers, words of one stem, and scripts without spaces. */
const WORDS = [
  "cron",
  "lock",
  "locks",
  "job",
  "the",
  "not",
  "twice",
  "getUserName",
  "user",
  "name",
  "src/store/index.ts",
  "E2BIG",
  "1.2.3",
  "日本語",
  "本",
  "naïve",
  "naive",
  "a",
  "migration",
];
export const text: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...WORDS), { minLength: 0, maxLength: 12 })
  .map((words) => words.join(" "));
const role = fc.constantFrom<Role>("user", "assistant", "system");

export type Command =
  | { readonly do: "create"; readonly title: string; readonly agent: string }
  | {
      readonly do: "append";
      readonly session: number;
      readonly role: Role;
      readonly text: string;
    }
  | {
      readonly do: "update";
      readonly session: number;
      readonly title: string;
      readonly summary: string;
    }
  | { readonly do: "delete"; readonly session: number }
  | { readonly do: "cut"; readonly session: number; readonly through: number }
  | {
      readonly do: "erase";
      readonly session: number;
      readonly from: number;
      readonly count: number;
    }
  | { readonly do: "flush" | "merge" | "purge" | "rebuild" | "search" };

const session = fc.nat(30);
export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      title: text,
      agent: fc.constantFrom("a", "b"),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({ do: fc.constant("append" as const), session, role, text }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      session,
      title: text,
      summary: text,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), session }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("cut" as const), session, through: fc.nat(8) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("erase" as const),
      session,
      from: fc.integer({ min: 1, max: 12 }),
      count: fc.nat(6),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      // A cached tail must not outlive erasures.
      { do: "search" as const },
      { do: "flush" as const },
      { do: "flush" as const },
      { do: "merge" as const },
      { do: "purge" as const },
      { do: "rebuild" as const },
    ),
  },
);

export const query: fc.Arbitrary<string> = fc.oneof(
  text,
  text.map((words) => `${words} -lock`),
  text.map((words) => `+cron ${words}`),
  text.map((words) => `"the job" ${words}`),
  text.map((words) => `na* ${words}`),
  text.map((words) => `not OR twice ${words}`),
);

export class IndexFixture {
  readonly model: IndexModel = new IndexModel();
  /** Small, so that blobs are evicted all the time. */
  readonly memory: TenantCache = new TenantCache(new IndexCache(300_000), {
    indexing: INDEXING,
    clock: () => 0,
  });
  #lastSegment = 0;

  run(command: Command): void {
    const sessions = [...this.model.sessions.keys()];
    const pick = (n: number) => sessions[n % Math.max(1, sessions.length)];
    switch (command.do) {
      case "create":
        this.model.createSession(command);
        return;
      case "append": {
        const session = pick(command.session);
        if (session !== undefined) this.model.append(session, command.role, command.text);
        return;
      }
      case "update": {
        const session = pick(command.session);
        const { title, summary } = command;
        if (session !== undefined) this.model.update(session, { title, summary });
        return;
      }
      case "delete": {
        const session = pick(command.session);
        if (session !== undefined) this.model.delete(session);
        return;
      }
      case "cut": {
        const known = this.model.sessions.get(pick(command.session) ?? 0);
        if (known !== undefined) this.model.cut(pick(command.session) as number, command.through);
        return;
      }
      case "erase": {
        const session = pick(command.session);
        const last = this.model.sessions.get(session ?? 0)?.messages.length ?? 0;
        const to = Math.min(last, command.from + command.count);
        if (session !== undefined && command.from <= to) {
          this.model.erase(session, command.from, to);
        }
        return;
      }
      case "search":
        this.search("lock");
        return;
      case "purge":
        while (this.maintain("purge").more);
        return;
      default:
        this.maintain(command.do);
    }
  }

  maintain(
    task: "flush" | "merge" | "maintain" | "purge" | "rebuild",
    now = 0,
    answer: AnswerNow = this.model.answer,
  ): MaintenanceReport {
    const options = {
      indexing: INDEXING,
      newSegment: () => ++this.#lastSegment,
      flushAt: 1,
      unreadable: new Set<number>(),
      now,
    };
    const { version } = this.model.manifest;
    const asked = task === "rebuild" ? { rebuildThrough: version } : task;
    return runNow(maintainIndex(asked, options), answer);
  }

  /** Maintenance under concurrent writes: runs a command after each feed slice of four changes. */
  maintainAmid(commands: readonly Command[]): void {
    const left = [...commands];
    this.maintain("maintain", 0, (need) => {
      if (need.need !== "feed" || need.limit === 0) return this.model.answer(need);
      const slice = this.model.answer({ ...need, limit: Math.min(need.limit, 4) });
      const next = left.shift();
      if (next !== undefined) this.run(next);
      return slice;
    });
  }

  search(query: string, more: Partial<SearchRequest> = {}): SearchAnswer {
    const request: SearchRequest = {
      query,
      match: "any",
      now: Date.now(),
      limit: 20,
      perSession: 1,
      before: 0,
      after: 0,
      scope: {},
      branches: "active",
      profile: PLAIN_PROFILE,
      explain: false,
      deadlineMs: 500,
      ...more,
    };
    return runNow(searchSessions(request, this.memory), this.model.answer);
  }
}
