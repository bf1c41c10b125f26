import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../src/index.ts";
import { open } from "../src/index.ts";
import { FOREIGN_SESSIONS } from "./labelled/foreign-sessions.ts";
import { INFRA_SESSIONS } from "./labelled/infra-sessions.ts";
import { LEDGER_SESSIONS } from "./labelled/ledger-sessions.ts";
import { LABELLED_QUERIES, type LabelledQuery } from "./labelled/queries.ts";
import type { Dialogue } from "./labelled/session.ts";
import { SHOP_SESSIONS } from "./labelled/shop-sessions.ts";
import { TOOLS_SESSIONS } from "./labelled/tools-sessions.ts";

const SESSIONS: readonly Dialogue[] = [
  ...LEDGER_SESSIONS,
  ...SHOP_SESSIONS,
  ...INFRA_SESSIONS,
  ...TOOLS_SESSIONS,
  ...FOREIGN_SESSIONS,
];

/** The minimum share of queries with a right session in the top three. */
const MIN_TOP_3 = 0.8;

let engine: Engine;

beforeAll(async () => {
  engine = await open(":memory:");
  for (const dialogue of SESSIONS) await store(dialogue);
});

afterAll(() => engine.close());

test("the set has its documented size, and names only its own sessions", () => {
  expect(SESSIONS.length).toBeGreaterThanOrEqual(40);
  expect(LABELLED_QUERIES.length).toBeGreaterThanOrEqual(60);
  const ids = new Set(SESSIONS.map(({ id }) => id));
  expect(ids.size).toBe(SESSIONS.length);
  expect(LABELLED_QUERIES.flatMap(({ right }) => right).filter((id) => !ids.has(id))).toEqual([]);
});

test("for real queries, the right session is in the top three", async () => {
  const ranks = await Promise.all(LABELLED_QUERIES.map(rankOf));
  const report = describeRanks(ranks);
  if (process.env["SHOW_LABELLED"] !== undefined) process.stdout.write(`${report}\n`);
  const share = ranks.filter((rank) => rank < 3).length / ranks.length;
  expect(share, report).toBeGreaterThanOrEqual(MIN_TOP_3);
});

async function store({ id, date, project, messages }: Dialogue): Promise<void> {
  const startedAt = Date.parse(`${date}T09:00:00Z`);
  const session = await engine.createSession({
    id,
    agent: "coder",
    createdBy: "dev",
    startedAt,
    origin: { projectPath: `/home/dev/${project}` },
  });
  for (const [i, { role, actor, text }] of messages.entries()) {
    const createdAt = startedAt + i * 60_000;
    if (role === "tool") {
      const call = { id: `call-${i}`, name: actor, input: JSON.stringify({ input: text }) };
      await session.append({ role: "assistant", actor: "assistant", toolCalls: [call], createdAt });
    } else {
      await session.append({ role, actor, content: text, createdAt });
    }
  }
}

async function rankOf({ query, right }: LabelledQuery): Promise<number> {
  const { hits } = await engine.searchSessions(query, { limit: 10 });
  const rank = hits.findIndex(({ sessionId }) => right.includes(sessionId));
  return rank < 0 ? Number.POSITIVE_INFINITY : rank;
}

/** hit@1 and hit@3 by category, and each miss. */
function describeRanks(ranks: readonly number[]): string {
  const lines: string[] = [];
  const categories = new Set(LABELLED_QUERIES.map(({ category }) => category));
  for (const category of ["all", ...categories]) {
    const own = ranks.filter(
      (_, i) => category === "all" || LABELLED_QUERIES[i]?.category === category,
    );
    const first = own.filter((rank) => rank < 1).length;
    const top = own.filter((rank) => rank < 3).length;
    lines.push(`${category}: ${own.length} queries, ${first} first, ${top} among three`);
  }
  for (const [i, { category, query }] of LABELLED_QUERIES.entries()) {
    const rank = ranks[i] as number;
    if (rank >= 3) lines.push(`${category}: ${query} (${rank > 9 ? "not found" : rank + 1})`);
  }
  return lines.join("\n");
}
