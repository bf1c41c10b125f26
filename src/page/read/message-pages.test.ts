import { expect, test } from "vitest";
import type { RemoteEngine } from "../../client/index.ts";
import type { Entry } from "../data/types.ts";
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
