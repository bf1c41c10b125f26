import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type Answer,
  type ModelServer,
  startModelServer,
} from "../../../test/support/model-server.ts";
import { repeats } from "../../../test/support/repeats.ts";
import { streams } from "../../../test/support/streamed-answer.ts";
import { open } from "../../open.ts";
import { compatibleModel } from "../../providers/language-model.ts";
import { MAX_RECOVERIES } from "../compaction/fit-window.ts";
import { failureOf } from "./generate.cases.ts";
import { generate } from "./generate.ts";

/** A model that refuses what exceeds its window and does not say how large that is. */

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

/** The oracle's own count: the bytes of all messages on the wire. */
const tokensOf = (messages: readonly unknown[]) => JSON.stringify(messages).length / 4;

interface Sent {
  readonly tokens: number;
  readonly accepted: boolean;
}

/** Gives the sizes of the requests since, in order; `windowOf` gets the size of the first one. */
function limitTo(windowOf: (first: number) => number): Sent[] {
  const sent: Sent[] = [];
  const answer: Answer = (request, response) => {
    const tokens = tokensOf(request.messages);
    const window = windowOf(sent[0]?.tokens ?? tokens);
    sent.push({ tokens, accepted: tokens <= window });
    if (tokens <= window) return streams({ text: ["Yes."] })(request, response);
    const error = { message: "Your input exceeds the context window of this model.", code: null };
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error }));
    return undefined;
  };
  server.answer(answer);
  return sent;
}

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-overflow-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}

const modelOf = (name: string) => compatibleModel({ baseUrl: server.url, model: name });
const words = (count: number) => "word ".repeat(count);

describe.each(["turns", "none"] as const)("under the policy %s", (policy) => {
  test("each request is smaller, most of the window is used, and it is remembered", async () => {
    // Older messages leave the window 16 at a time, so they are short beside it.
    const history = fc.array(fc.integer({ min: 2, max: 20 }), { minLength: 300, maxLength: 400 });
    let model = 0;
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 35, max: 95 }), async (lengths, percent) => {
        const path = storePath();
        const name = `${policy}-${model++}`;
        const input = {
          model: modelOf(name),
          compaction: { policy },
          context: { recentTurns: 200 },
        } as const;
        let id = "";
        let window = 0;
        {
          await using memory = await open(path, { inThread: true });
          const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
          ({ id } = session);
          await session.append(
            lengths.map((length, i) => ({
              role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
              content: words(length),
            })),
          );
          const sent = limitTo((first) => {
            window = (first * percent) / 100;
            return window;
          });
          await generate(memory, { conversationId: id, ...input, message: "And now?" });
          const sizes = sent.map(({ tokens }) => tokens);
          expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => b - a));
          expect(sent.map(({ accepted }) => accepted).indexOf(true)).toBe(sent.length - 1);
          expect(sizes.at(-1)).toBeGreaterThanOrEqual(0.6 * window);
          expect(sent.length).toBeLessThanOrEqual(MAX_RECOVERIES + 1);
          const next = limitTo(() => window);
          await generate(memory, { conversationId: id, ...input, message: "And then?" });
          expect(next.map(({ accepted }) => accepted)).toEqual([true]);
        }
        // Another process shares the store alone.
        await using other = await open(path, { inThread: true });
        const later = limitTo(() => window);
        await generate(other, { conversationId: id, ...input, message: "And at last?" });
        expect(later.map(({ accepted }) => accepted)).toEqual([true]);
      }),
      { numRuns: repeats(3, 60), endOnFailure: true },
    );
  });
});

test("a context that cannot become smaller is not sent again", async () => {
  await using memory = await open(":memory:");
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const sent = limitTo(() => 0);
  const input = { conversationId: session.id, model: modelOf("tiny"), message: "Hello" };
  const failure = await failureOf(generate(memory, input));
  expect(failure).toMatchObject({ code: "model_failed", details: { kind: "overflow" } });
  expect(sent).toHaveLength(1);
});
