/** The scenarios of `bench context`, each in its own process. */

import { existsSync } from "node:fs";
import { open } from "./library.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { Words } from "./synthetic.ts";

/** A question and an answer of about 60 words each, as in the corpus of search. */
const WORDS = 60;
const BATCH = 500;
const SESSION = "long";

export interface ContextTask {
  readonly address: string;
  readonly turns: number;
  readonly count: number;
}

/** One session of `turns` turns, indexed. */
export async function fillSession({ address, turns }: ContextTask): Promise<Figures> {
  if (existsSync(`${address}.filled`)) return { turns };
  const engine = await open(address);
  const words = new Words(turns, 20_000);
  const session = await engine.createSession({ id: SESSION, agent: "bench", createdBy: "person" });
  for (let done = 0; done < turns; done += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, turns - done) }, () => [
      { role: "user" as const, actor: "person", content: words.text(WORDS) },
      { role: "assistant" as const, actor: "bench", content: words.text(WORDS) },
    ]).flat();
    await session.append(messages);
  }
  await engine.maintainIndex("flush");
  // Maintenance after a bulk load runs first, not during the contexts.
  await engine.maintainIndex("maintain");
  await engine.close();
  return { turns };
}

/** A context with recall after each new question. */
export async function contexts({ address, turns, count }: ContextTask): Promise<Figures> {
  const engine = await open(address);
  const session = await engine.getSession(SESSION);
  const words = new Words(turns + 1, 20_000);
  const timings = new Timings();
  let stable = 0;
  let total = 0;
  let before: readonly string[] = [];
  for (let i = -50; i < count; i++) {
    await session.append({ role: "user", actor: "person", content: words.text(12) });
    const build = () => session.buildContext({ tokenBudget: 8_000 });
    const { messages } = i < 0 ? await build() : await timings.time(build);
    await session.append({ role: "assistant", actor: "bench", content: words.text(WORDS) });
    const texts = messages.map((message) => JSON.stringify(message.blocks));
    const same = texts.findIndex((text, at) => text !== before[at]);
    stable += lengthOf(texts.slice(0, same < 0 ? texts.length : same));
    total += lengthOf(texts);
    before = texts;
  }
  await engine.close();
  return { ...timings.figures(), stableShare: stable / total, rssMb: peakRssMb() };
}

/** Plans and writes a mechanical compaction of everything. */
export async function compactions({ address, turns }: ContextTask): Promise<Figures> {
  const engine = await open(address);
  const session = await engine.getSession(SESSION);
  let planned = Number.NaN;
  const start = performance.now();
  await session
    .compact({
      keep: { messages: 4 },
      before: () => {
        planned = performance.now() - start;
        return { cancel: true };
      },
    })
    .catch(() => undefined);
  const begin = performance.now();
  await session.compact({ keep: { messages: 4 } });
  const wholeMs = performance.now() - begin;
  const timings = new Timings();
  for (let i = 0; i < 100; i++) {
    await timings.time(() => session.buildContext({ tokenBudget: 8_000 }));
  }
  await engine.close();
  const { p50Ms } = timings.figures();
  return { turns, readAndPlanMs: planned, wholeMs, contextMs: p50Ms, rssMb: peakRssMb() };
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
