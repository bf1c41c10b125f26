/**
 * A line that was copied out of an output finds the message with it first, though every word of it
 * is in every session. A plain scan of all texts decides which sessions have the line.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { type Engine, open } from "../src/index.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";
import { SEED, seeded } from "./support/random.ts";
import { repeats } from "./support/repeats.ts";

const WORDS =
  "error fatal failed cannot not found no such file or directory a is the of read open git repository module line at for in to connection refused permission denied invalid argument test".split(
    " ",
  );
const SIGNS = ["", "", "", ":", ",", ";"];
const LINES = 60;

const random = seeded(SEED);
const below = (limit: number) => Math.floor(random() * limit);
const pick = <Value>(list: readonly Value[]) => list[below(list.length)] as Value;
const words = (count: number) =>
  Array.from({ length: count }, () => `${pick(WORDS)}${pick(SIGNS)}`).join(" ");
const lines = (count: number) => Array.from({ length: count }, () => words(7));

/** What was said in each session, and what a tool printed then. */
const SESSIONS: readonly { readonly said: string; readonly output: string }[][] = Array.from(
  { length: 70 },
  () =>
    Array.from({ length: 3 }, () => ({
      said: `Why is it so? ${words(30)}.`,
      output: lines(30).join("\n"),
    })),
);

/** A line out of the middle of an output, one of each of some sessions. */
const ASKED: readonly string[] = SESSIONS.slice(0, LINES).map((turns) => {
  const { output } = pick(turns);
  return `${output.split("\n")[15]}`.replace(/\W$/, "");
});

test("of 60 lines of common words, at least 57 are found first and shown, alike on both databases", async () => {
  await using sqlite = await open(join(createFolder(), "lines.db"), { inThread: true });
  await using postgres = await open(await createDatabase(), { durability: "process" });
  const found = await findAll(sqlite, ASKED);
  let first = 0;
  let shown = 0;
  for (const [i, line] of ASKED.entries()) {
    const holders = SESSIONS.flatMap((turns, session) =>
      turns.some(({ said, output }) => `${said}\n${output}`.includes(line)) ? [session] : [],
    );
    expect(holders.length).toBeGreaterThan(0);
    const [best] = found[i] ?? [];
    if (best !== undefined && holders.includes(best.session)) first++;
    if (best?.snippet.includes(line)) shown++;
  }
  expect([first, shown].map((count) => count >= 57)).toEqual([true, true]);
  const some = ASKED.slice(0, repeats(15, LINES));
  expect(await findAll(postgres, some)).toEqual(found.slice(0, some.length));
});

interface Found {
  readonly session: number;
  readonly index: number | null;
  readonly snippet: string;
}

/** The best hits of each line. */
async function findAll(
  engine: Engine,
  asked: readonly string[],
): Promise<readonly (readonly Found[])[]> {
  const ids: string[] = [];
  for (const turns of SESSIONS) {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    ids.push(session.id);
    const messages = turns.flatMap(({ said, output }, turn) => {
      const call = { id: `call-${turn}`, name: "Bash" };
      return [
        { role: "user" as const, actor: "ana", content: said },
        { role: "assistant" as const, toolCalls: [{ ...call, arguments: { command: "make" } }] },
        { role: "tool" as const, toolResults: [{ ...call, output }] },
      ];
    });
    await session.append(messages);
  }
  await engine.maintainIndex("flush");
  const all: Found[][] = [];
  for (const line of asked) {
    const { hits } = await engine.searchSessions(line, {
      limit: 2,
      contextBefore: 0,
      contextAfter: 0,
    });
    all.push(
      hits.map(({ sessionId, index, window }) => ({
        session: ids.indexOf(sessionId),
        index,
        snippet: window.find((item) => item.found)?.snippet ?? "",
      })),
    );
  }
  return all;
}
