import { expect, test } from "vitest";
import { IndexModel } from "../../test/support/index-model.ts";
import { runNow } from "./drive.ts";
import { IndexCache } from "./index/index-cache.ts";
import type { SearchRequest } from "./request.ts";
import { DEFAULT_PROFILE } from "./score/profile.ts";
import { searchSessions } from "./search.ts";
import { TenantCache } from "./search-cache.ts";

test("a search stops reading a long tail at its deadline, and the next one continues it", () => {
  const model = new IndexModel();
  const session = model.createSession();
  for (let i = 0; i < 1_200; i++) model.append(session, "user", "otter");
  model.append(session, "user", "stoat");
  let time = 0;
  const memory = new TenantCache(new IndexCache(300_000), {
    indexing: { language: "english", tools: "names" },
    clock: () => time,
  });
  const search = () => {
    const started = time;
    const request: SearchRequest = {
      query: "stoat",
      match: "words",
      now: 0,
      limit: 5,
      perSession: 1,
      before: 0,
      after: 0,
      scope: {},
      branches: "active",
      profile: DEFAULT_PROFILE,
      deadlineMs: 100,
      explain: false,
    };
    const { hits, partial } = runNow(searchSessions(request, memory), (need) => {
      if (need.need === "feed") time += 60;
      return model.answer(need);
    });
    return { found: hits.length, partial, ms: time - started };
  };
  expect([search(), search(), search(), search()]).toEqual([
    { found: 0, partial: true, ms: 120 },
    { found: 0, partial: true, ms: 120 },
    { found: 1, partial: false, ms: 60 },
    { found: 1, partial: false, ms: 60 },
  ]);
});
