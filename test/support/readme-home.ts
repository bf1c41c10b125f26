/** The home folder with the transcripts of README's example. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Alternating texts of the user and the agent. */
type Talk = readonly string[];

interface Transcript {
  readonly id: string;
  readonly cwd: string;
  readonly hoursAgo: number;
  readonly talk: Talk;
}

const CLAUDE: readonly Transcript[] = [
  {
    id: "5d0e3c1a-7b42-4f0e-9c55-0d6a1be0a001",
    cwd: "/srv/jobs",
    hoursAgo: 24 * 5 + 2,
    talk: [
      "Why does the nightly cron job run twice on Mondays?",
      "Two nodes start it at 02:00, and acquireLock() no longer waits: the lock expires after 30 s, while the job takes 50.",
      "Make the lock outlive the job.",
      "Done: jobs/lock.ts renews the lock every 10 s until the job has ended.",
    ],
  },
  {
    id: "7a9b8c7d-0e1f-4203-9415-26374859607a",
    cwd: "/srv/shop",
    hoursAgo: 24 * 2 + 3,
    talk: [
      "The tax of an order with a discount is one cent too high.",
      "It is rounded once for each item and once for the sum. I round the sum alone.",
    ],
  },
];

const CODEX: readonly Transcript[] = [
  {
    id: "019c1a2b-0f3d-7c31-b0aa-7e1d8f2a4c10",
    cwd: "/srv/shop",
    hoursAgo: 3,
    talk: [
      "Which tables does the migration to PostgreSQL 18 lock?",
      "None for longer than 20 ms: it copies rows in batches of 5,000.",
    ],
  },
];

export function writeReadmeHome(home: string): void {
  for (const transcript of CLAUDE) {
    const folder = transcript.cwd.replaceAll("/", "-");
    const file = join(home, ".claude/projects", folder, `${transcript.id}.jsonl`);
    writeLines(file, claudeLines(transcript));
  }
  for (const transcript of CODEX) {
    const day = timeOf(transcript, 0).slice(0, 10).replaceAll("-", "/");
    const file = join(home, ".codex/sessions", day, `rollout-${transcript.id}.jsonl`);
    writeLines(file, codexLines(transcript));
  }
}

function claudeLines(transcript: Transcript): object[] {
  return transcript.talk.map((text, i) => {
    const role = i % 2 === 0 ? "user" : "assistant";
    return {
      type: role,
      uuid: `${transcript.id}-${i}`,
      parentUuid: i === 0 ? null : `${transcript.id}-${i - 1}`,
      sessionId: transcript.id,
      cwd: transcript.cwd,
      gitBranch: "main",
      isSidechain: false,
      userType: "external",
      version: "2.1.50",
      timestamp: timeOf(transcript, i),
      message: { role, content: [{ type: "text", text }] },
    };
  });
}

function codexLines(transcript: Transcript): object[] {
  const { id, cwd } = transcript;
  const meta = {
    id,
    cwd,
    timestamp: timeOf(transcript, 0),
    originator: "codex-tui",
    source: "cli",
  };
  const messages = transcript.talk.map((text, i) => {
    const isUser = i % 2 === 0;
    const content = [{ type: isUser ? "input_text" : "output_text", text }];
    const payload = { type: "message", role: isUser ? "user" : "assistant", content };
    return { timestamp: timeOf(transcript, i), type: "response_item", payload };
  });
  return [{ timestamp: timeOf(transcript, 0), type: "session_meta", payload: meta }, ...messages];
}

function timeOf({ hoursAgo }: Transcript, turn: number): string {
  return new Date(Date.now() - hoursAgo * HOUR_MS + turn * MINUTE_MS).toISOString();
}

function writeLines(file: string, lines: readonly object[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
