import { expect, test } from "vitest";
import { open } from "../open.ts";

test("a search reads the newest 1,000 marks of a session, and no more", async () => {
  const engine = await open(":memory:");
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const said = ["narwhal", "narwhal"].map((content) => ({ role: "user" as const, content }));
  await session.append(said);
  const [first = "", last = ""] = (await session.history()).map(({ id }) => id);
  const marked = async () => {
    const { hits } = await engine.searchSessions("narwhal", { perSession: 2 });
    return hits.flatMap(({ mark }) => mark?.entryId ?? []).sort();
  };
  await session.mark({ entryId: first, reason: "No." });
  const again = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => session.mark({ entryId: last, reason: "No." })),
    );
  await again(999);
  expect(await marked()).toEqual([first, last].sort());
  await again(1);
  expect(await marked()).toEqual([last]);
  await engine.close();
});
