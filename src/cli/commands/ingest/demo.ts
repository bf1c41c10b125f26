import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { SEARCH_RESULT } from "../../../model/answers/context.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXAMPLE_SESSIONS } from "../../demo/example-sessions.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { formatBlocks, formatEntry } from "../../print-entry.ts";
import { commandLine } from "../../program.ts";
import { formatHit } from "../../search/print-hit.ts";
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
      if (context.json) {
        await terminal.printJson({
          db,
          sessions: ids,
          query: QUESTION,
          search: toWire(SEARCH_RESULT, result),
          context: { session_id: session.id, tokens: built.tokens, budget: BUDGET },
        });
        return EXIT.ok;
      }
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
      return EXIT.ok;
    });
  },
});
