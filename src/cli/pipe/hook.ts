/**
 * `backscroll hook AGENT` as agents start it: asks the hub what memory says in this moment, and
 * prints it. Loads nothing of ours.
 *
 * An agent waits for its hooks, so whatever fails or is late is silence, and success.
 */

import { parseArgs } from "node:util";
import { Caller, isOn } from "./pipe.ts";
import { hubPlace, MAX_GREETING_BYTES, toLine } from "./place.ts";

/** The hub's time for an answer, and that of this process and a hub to start. */
const ANSWER_MS = 150;
const START_MS = 200;

const MAX_INPUT_BYTES = 32 * 1024 * 1024;

/** Characters of each text of a payload: the head and the tail of a longer one; items of each list. */
const MAX_TEXT = 16_384;
const MAX_ITEMS = 100;

/** What the whole program answers: hand-overs, and the ends of conversations. */
const OTHERS = new Set(["PreCompact", "SessionEnd"]);

let taken: string | undefined;

/** What was read from standard input; undefined if it was not. */
export function takenInput(): string | undefined {
  return taken;
}

/** False if the whole program is to answer. */
export async function runHook(argv: readonly string[], program: string): Promise<boolean> {
  const { BACKSCROLL: isKept, BACKSCROLL_HUB: hub } = process.env;
  const { BACKSCROLL_HOOK_DEADLINE_MS: deadline } = process.env;
  const named = readArguments(argv);
  if (named === undefined || process.stdin.isTTY || !isOn(isKept) || !isOn(hub)) return false;
  taken = await readInput();
  if (taken === undefined) return true;
  const payload = parse(taken);
  if (payload === undefined || isForOthers(payload)) return false;
  const { agent, ...options } = named;
  const place = hubPlace(options);
  // Only one's own machine speaks.
  if (place === undefined) return true;
  const caller = new Caller(place, [program, "hub"]);
  const greeting = caller.greeting("ask", { question: { agent, payload } });
  // A hub reads no longer one.
  if (toLine(greeting).length > MAX_GREETING_BYTES / 4) return true;
  const link = await caller.link(
    greeting,
    START_MS + (Number(deadline) || ANSWER_MS) - performance.now(),
  );
  const { text = "" } = link?.answer ?? {};
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  process.exit(0);
}

function readArguments(argv: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    const settings = { options: { db: text, tenant: text }, allowPositionals: true } as const;
    const { values, positionals } = parseArgs({ args: [...argv], ...settings });
    const [agent, ...others] = positionals;
    return agent === undefined || others.length > 0 ? undefined : { agent, ...values };
  } catch {
    return undefined;
  }
}

/** Undefined if it is longer than what an agent tells. */
async function readInput(): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text, shorten);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function shorten(_name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS);
  if (typeof value !== "string" || value.length <= MAX_TEXT) return value;
  return `${value.slice(0, MAX_TEXT / 2)}\n${value.slice(-MAX_TEXT / 2)}`;
}

function isForOthers({ hook_event_name: event, source }: Readonly<Record<string, unknown>>) {
  return OTHERS.has(String(event)) || (event === "SessionStart" && source === "compact");
}
