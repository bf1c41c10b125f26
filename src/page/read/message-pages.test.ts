import { expect, test } from "vitest";
import type { RemoteEngine } from "../../client/index.ts";
import type { Entry } from "../data/connection.ts";
import { MessagePages } from "./message-pages.ts";

const TOTAL = 200;

interface Input {
  readonly offset?: number;
  readonly around?: string;
  readonly limit: number;
}

/** A session of 200 messages. Answers wait until they are sent. */
function serverOf() {
  const answers: (() => void)[] = [];
  const engine = {
    listMessages: (_: string, { offset, around, limit }: Input) => {
      const first = around === undefined ? (offset ?? 0) : Number(around) - limit / 2;
      const messages = Array.from({ length: limit }, (_, at) => ({ id: `${first + at}` }) as Entry);
      return new Promise((resolve) =>
        answers.push(() => resolve({ messages, offset: first, total: TOTAL })),
      );
    },
  };
  const sendAll = () => {
    for (const send of answers.splice(0)) send();
  };
  return { engine: engine as unknown as RemoteEngine, answers, sendAll };
}

test("a reset while the pages around a link are read keeps all of them", async () => {
  const { engine, answers, sendAll } = serverOf();
  const pages = new MessagePages(engine, "s", undefined, () => undefined);
  const found = pages.find("100");
  sendAll();
  expect(await found).toBe(100);
  pages.want(80, 120);
  await expect.poll(() => answers.length).toBe(2);
  const reset = pages.reset();
  sendAll();
  await reset;
  expect(pages.get(90)?.id).toBe("90");
  expect(pages.get(110)?.id).toBe("110");
});

/** Calls by the index of their message, with the index of their result; undefined for none. */
const CALLS: ReadonlyMap<number, number | undefined> = new Map([
  [0, 1],
  [3, 40],
  [45, 52],
  [48, 149],
  [60, undefined],
  [140, undefined],
]);

function messageAt(index: number): Entry {
  const calls = CALLS.has(index) ? [{ type: "tool_use", id: `call ${index}` }] : [];
  const results = [...CALLS].flatMap(([call, result]) =>
    result === index
      ? [{ type: "tool_result", toolUseId: `call ${call}`, output: `${index}` }]
      : [],
  );
  const blocks = [{ type: "text", text: "." }, ...calls, ...results];
  return { id: `${index}`, blocks, truncated: false, erased: false } as unknown as Entry;
}

test("a call has no result only if every message after it was read", async () => {
  const messages = Array.from({ length: 150 }, (_, index) => messageAt(index));
  const engine = {
    listMessages: async (_: string, { offset = 0, limit }: Input) => ({
      messages: messages.slice(offset, offset + limit),
      total: messages.length,
    }),
  } as unknown as RemoteEngine;
  for (const order of [[0], [0, 1], [1, 0], [0, 2], [2, 0], [0, 1, 2], [2, 1, 0]]) {
    const pages = new MessagePages(engine, "s", undefined, () => undefined);
    for (const page of order) await pages.load(page);
    const isRead = (index: number) => order.includes(Math.floor(index / 50));
    for (const [call, result] of CALLS) {
      if (!isRead(call)) continue;
      const shown = pages.resultOf(`call ${call}`, call);
      const isAllRead = messages.every((_, index) => index < call || isRead(index));
      const expected = result !== undefined && isRead(result) ? String(result) : undefined;
      expect(shown === null, `${order}: ${call}`).toBe(isAllRead && result === undefined);
      expect(shown?.block.output, `${order}: ${call}`).toBe(expected);
    }
  }
});

test("a message without its blocks may have the result", async () => {
  const messages = [messageAt(60), { id: "1", blocks: [], truncated: true } as unknown as Entry];
  const engine = { listMessages: async () => ({ messages, total: 2 }) } as unknown as RemoteEngine;
  const pages = new MessagePages(engine, "s", undefined, () => undefined);
  await pages.load(0);
  expect(pages.resultOf("call 60", 0)).toBeUndefined();
});

test("a repeated id of a call has the next result of its own", async () => {
  const call = { blocks: [{ type: "tool_use", id: "c" }] } as unknown as Entry;
  const result = (output: string) =>
    ({ blocks: [{ type: "tool_result", toolUseId: "c", output }] }) as unknown as Entry;
  const messages = [call, result("first"), call, result("second"), call];
  const engine = { listMessages: async () => ({ messages, total: 5 }) } as unknown as RemoteEngine;
  const pages = new MessagePages(engine, "s", undefined, () => undefined);
  await pages.load(0);
  expect([0, 2, 4].map((index) => pages.resultOf("c", index)?.block.output)).toEqual([
    "first",
    "second",
    undefined,
  ]);
});
