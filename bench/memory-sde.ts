/** sde-bench (vectorize-io/sde-bench): bug reports, and the chat that decided. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Haystack, readJson } from "./memory-set.ts";

/** As `sde.json` has it. */
export interface SdeData {
  readonly chats: readonly {
    readonly id: string;
    readonly at: number;
    readonly turns: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  }[];
  readonly questions: readonly {
    readonly question: string;
    readonly gold: string;
    readonly superseded: readonly string[];
  }[];
}

interface SdeTurn {
  readonly role?: "user" | "assistant";
  readonly text: string;
}

interface SdeTask {
  readonly task_id: string;
  readonly bug_report: string;
  /** One chat, or an earlier one and those that amend it. */
  readonly conversations?: readonly SdeTurn[] | readonly (readonly SdeTurn[])[];
}

const FIRST_AT = Date.UTC(2024, 0, 1);
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const DECOY_MS = 3_000_000;

export function readSdeFile(path: string): SdeData {
  return readJson(path) as SdeData;
}

/** The tasks of a clone that have chats, and `gen/decoy_conversations.json` around them. */
export function readSdeClone(clone: string): SdeData {
  const chats: SdeData["chats"][number][] = [];
  const questions: SdeData["questions"][number][] = [];
  // As git lists them.
  for (const name of readdirSync(clone)
    .map((each) => `${each}/`)
    .sort()) {
    const path = join(clone, name, "tasks", "main", "task.json");
    if (!existsSync(path)) continue;
    const { task_id, bug_report, conversations } = readJson(path) as SdeTask;
    if (conversations === undefined || conversations.length === 0) continue;
    const all = (
      Array.isArray(conversations[0]) ? conversations : [conversations]
    ) as readonly (readonly SdeTurn[])[];
    const at = FIRST_AT + questions.length * HOUR_MS;
    const ids = all.map((turns, i) => {
      const id = `${task_id}#${i}`;
      chats.push({ id, at: at + i * WEEK_MS, turns: turnsOf(turns) });
      return id;
    });
    questions.push({
      question: bug_report.replace(/A failing repro is at.*$/s, "").trim(),
      gold: ids.at(-1) as string,
      superseded: ids.slice(0, -1),
    });
  }
  const decoys = readJson(join(clone, "gen", "decoy_conversations.json")) as readonly {
    readonly turns: readonly SdeTurn[];
  }[];
  for (const [i, { turns }] of decoys.entries()) {
    chats.push({ id: `decoy${i}`, at: FIRST_AT + i * DECOY_MS, turns: turnsOf(turns) });
  }
  return { chats, questions };
}

export function sdeHaystack({ chats, questions }: SdeData): Haystack {
  const conversation = "sde-bench";
  return {
    sessions: chats.map(({ id, at, turns }) => ({
      conversation,
      session: id,
      startedAt: new Date(at).toISOString(),
      messages: turns.map(({ role, text }, i) => ({ id: `${id}/${i}`, role, text })),
    })),
    questions: questions.map(({ question, gold, superseded }) => ({
      conversation,
      question,
      category: 0,
      messages: [],
      sessions: [gold],
      groups: [superseded.length > 0 ? "amended" : "decided once"],
      ...(superseded.length > 0 ? { updated: [gold], outdated: superseded } : {}),
    })),
  };
}

function turnsOf(turns: readonly SdeTurn[]): SdeData["chats"][number]["turns"] {
  return turns.map(({ role = "user", text }) => ({ role, text }));
}
