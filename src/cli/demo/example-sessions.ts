/** Example sessions for `backscroll demo`. */

import type { MessageInput } from "../../engine/message-input.ts";

export interface ExampleSession {
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

export const EXAMPLE_SESSIONS: readonly ExampleSession[] = [
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
