/** Example sessions for `backscroll demo`. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import type { MessageInput } from "../../../engine/message-input.ts";
import { SEARCH_RESULT } from "../../../model/answers/context.ts";
import { type Command, defineCommand } from "../../command.ts";
import { counted, formatCount } from "../../print.ts";
import { formatHit } from "../../print-hit.ts";
import { formatBlocks, formatEntry } from "../../print-session.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Stores the examples with times some days before `now`. Gives their ids, in order. */
async function loadExamples(tenant: TenantApi, now: number): Promise<string[]> {
  const ids: string[] = [];
  for (const example of EXAMPLE_SESSIONS) {
    const { agent, title, projectPath, gitBranch } = example;
    const startedAt = now - example.daysAgo * DAY_MS;
    const session = await tenant.createSession({
      agent,
      title,
      createdBy: "ana",
      startedAt,
      origin: { projectPath, gitBranch },
    });
    const messages = example.messages.map((message, i) => ({
      ...message,
      createdAt: startedAt + i * MINUTE_MS,
    }));
    await session.append(messages);
    ids.push(session.id);
  }
  return ids;
}

const QUESTION = "why did the invoice mails go out twice";
const BUDGET = 600;

export const demo: Command = defineCommand({
  name: "demo",
  summary: "Load example sessions into a separate store, and show what can be done with them.",
  details:
    "The store is a new file in the system's temporary folder; your own is not touched. Shows a search, the messages around a hit, and a context for a model.",
  examples: ["demo"],
  run: async (context) => {
    const db = join(mkdtempSync(join(tmpdir(), "backscroll-demo-")), "demo.db");
    const { terminal } = context;
    const own = { ...context, address: db, given: { db } };
    return withStore(own, "create", async (tenant) => {
      const ids = await loadExamples(tenant, Date.now());
      const result = await tenant.searchSessions(QUESTION, { limit: 2 });
      const [first] = result.hits;
      const session = await tenant.getSession(first?.sessionId ?? ids[0] ?? "");
      const built = await session.buildContext({ tokenBudget: BUDGET });
      if (context.json)
        return terminal.printJson({
          db,
          sessions: ids,
          query: QUESTION,
          search: toWire(SEARCH_RESULT, result),
          context: { session_id: session.id, tokens: built.tokens, budget: BUDGET },
        });
      const heading = (text: string) => terminal.print(`\n${terminal.bold(text)}\n`);
      await terminal.print(`Loaded ${counted(ids.length, "example session")} into ${db}`);
      await heading(`1. A search: ${QUESTION}`);
      for (const [i, hit] of result.hits.entries()) {
        if (i > 0) await terminal.print();
        for (const line of formatHit(hit, terminal, { before: 1, after: 1 }))
          await terminal.print(line);
      }
      await heading("2. The messages around the hit");
      const around = first?.window.find(({ found }) => found)?.entryId;
      const page = await session.listMessages({
        limit: 4,
        preview: true,
        ...(around === undefined ? {} : { around }),
      });
      for (const message of page.messages) {
        const lines = formatEntry(message, terminal, { full: false, tools: false });
        for (const line of lines) await terminal.print(line);
      }
      await heading(`3. What a model would be given, in at most ${formatCount(BUDGET)} tokens`);
      for (const message of built.messages) {
        await terminal.print(terminal.bold(`${message.part} · ${message.role}`));
        const lines = formatBlocks(message.blocks, terminal, false);
        for (const line of lines) await terminal.print(line);
      }
      await terminal.print(`${formatCount(built.tokens)} of ${formatCount(BUDGET)} tokens.`);
      await heading("Go on");
      const { shortId } = await session.meta();
      const words = ["search lock", `show ${shortId} --tools`, "stats"];
      for (const each of words) await terminal.print(`  ${commandLine(own, each)}`);
    });
  },
});

interface ExampleSession {
  readonly agent: string;
  readonly title: string;
  readonly projectPath: string;
  readonly gitBranch: string;
  /** Days before today. */
  readonly daysAgo: number;
  readonly messages: readonly MessageInput[];
}

const user = (content: string): MessageInput => ({ role: "user", actor: "ana", content });

function agent(
  content: string,
  ...calls: readonly (readonly [string, object, string])[]
): MessageInput {
  return {
    role: "assistant",
    actor: "coder",
    content,
    model: "example-1",
    usage: { inputTokens: 900 + content.length, outputTokens: Math.ceil(content.length / 4) },
    toolCalls: calls.map(([name, input], i) => ({ id: `${name}-${i}`, name, input })),
    toolResults: calls.map(([name, , output], i) => ({ id: `${name}-${i}`, name, output })),
  };
}

const EXAMPLE_SESSIONS: readonly ExampleSession[] = [
  {
    agent: "coder",
    title: "Cron runs twice",
    projectPath: "/srv/shop",
    gitBranch: "main",
    daysAgo: 12,
    messages: [
      user("The nightly invoice job has sent every mail twice since Tuesday. Why?"),
      agent("I look at the crontab and the service file.", [
        "bash",
        { command: "crontab -l; systemctl cat invoices.timer" },
        "0 2 * * * /srv/shop/bin/invoices\n[Timer]\nOnCalendar=02:00",
      ]),
      agent(
        "It is scheduled twice: the old crontab line is still there, and the systemd timer was added on Tuesday. Both start at 02:00.",
      ),
      user("Remove the crontab line, and make the job refuse to run beside itself."),
      agent("Done: acquireLock() in jobs/invoices.ts takes an advisory lock for the day.", [
        "edit",
        { path: "jobs/invoices.ts", insert: "await acquireLock('invoices', day)" },
        "1 file changed",
      ]),
    ],
  },
  {
    agent: "coder",
    title: "Slow product page",
    projectPath: "/srv/shop",
    gitBranch: "faster-products",
    daysAgo: 5,
    messages: [
      user("The product page takes 4 seconds. Find out where they go."),
      agent("The query plan first.", [
        "bash",
        { command: "psql -c 'EXPLAIN ANALYZE SELECT …'" },
        "Seq Scan on reviews (actual time=0.03..3871.20 rows=2140000)",
      ]),
      agent(
        "It reads all reviews. An index on reviews (product_id, created_at) brings it to 18 ms.",
      ),
      user("Create it without blocking writes, please."),
      agent("CREATE INDEX CONCURRENTLY reviews_by_product is in migration 0042; it took 50 s."),
    ],
  },
  {
    agent: "reviewer",
    title: "Review of the lock",
    projectPath: "/srv/shop",
    gitBranch: "invoice-lock",
    daysAgo: 2,
    messages: [
      user("Review the change that keeps the invoice job from running twice."),
      agent(
        "One finding: the lock is taken after the mails are queued. If two jobs start within a second, both queue. Take it first, and release it in a finally block.",
      ),
      user("Good catch. Note that as a rule for all jobs: lock first, then work."),
      agent("Noted: every job takes its lock before its first side effect."),
    ],
  },
];
