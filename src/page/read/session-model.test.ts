import { expect, onTestFinished, test } from "vitest";
import type { RemoteEngine } from "../../client/index.ts";
import type { Entry, Session } from "../data/connection.ts";
import { SessionModel } from "./session-model.ts";

/** A server with one session. Its answers to `listMessages` and `listChanges` wait until they are sent. */
function serverOf(texts: string[]) {
  const answers = new Map<string, () => void>();
  const held = <Answer>(name: string, answer: Answer) =>
    new Promise<Answer>((resolve) => answers.set(name, () => resolve(answer)));
  const engine = {
    listChanges: () => held("changes", { changes: [], next: "end", end: true }),
    getSessionMeta: async () => ({ id: "s" }) as Session,
    listMessages: () => {
      const messages = texts.map((id) => ({ id }) as Entry);
      return held("messages", { messages, offset: 0, total: texts.length });
    },
    listSessions: async () => [],
    stats: async () => ({ total: { costMicroUsd: 0 } }),
    session: () => ({
      summaries: async () => [],
      branches: async () => [],
      marks: async () => [],
    }),
    // No change follows.
    subscribe: ({ signal }: { readonly signal: AbortSignal }) => ({
      async *[Symbol.asyncIterator]() {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    }),
  };
  const send = async (name: string) => {
    await expect.poll(() => answers.has(name)).toBe(true);
    answers.get(name)?.();
    answers.delete(name);
  };
  return { engine: engine as unknown as RemoteEngine, send };
}

test("an append and an edit between the first answer and the cursor are shown", async () => {
  const texts = ["first"];
  const { engine, send } = serverOf(texts);
  const model = new SessionModel(engine, "s", undefined);
  onTestFinished(() => model.close());
  const opened = model.open("");
  // The server has read the messages, and reads the end of the feed after the next writes.
  texts.splice(0, 1, "edited", "second");
  await send("messages");
  await opened;
  expect(model.pages.total.value).toBe(1);
  await send("changes");
  await send("messages");
  await expect.poll(() => model.pages.total.value).toBe(2);
  expect(model.pages.get(0)?.id).toBe("edited");
});
