import { expect, test } from "vitest";
import { engineOn, openStore, type Store } from "../../store-kit/index.ts";

/** Calls `meanwhile` once, right before the store updates a session. */
function interrupted(inner: Store, meanwhile: () => Promise<void>): Store {
  let isDone = false;
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "updateSession") return value.bind(target);
      return async (...args: Parameters<Store["updateSession"]>) => {
        if (!isDone) {
          isDone = true;
          await meanwhile();
        }
        return target.updateSession(...args);
      };
    },
  });
}

test("a compaction stored during an edit keeps its summary", async () => {
  let meanwhile = async () => {};
  const inner = await openStore(":memory:");
  await using memory = engineOn(interrupted(inner, () => meanwhile()));
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const say = (...words: string[]) =>
    session.append(
      words.map((word) => ({ role: "user", content: `${word} `.repeat(600) }) as const),
    );
  const [first] = await say("one", "two", "three");
  await session.compact({ keep: { messages: 1 } });
  let summary: string | null = null;
  meanwhile = async () => {
    await say("five", "six");
    await session.compact({ keep: { messages: 1 } });
    ({ summary } = await session.meta());
  };
  // The path loses the first compaction, and gets another one before the edit records that.
  await session.edit(first?.id ?? "", "four");
  expect(summary).not.toBeNull();
  expect((await session.meta()).summary).toBe(summary);
});
