/** Steady writes and reads through two nodes, and what each of them must see of it. */

import { pause } from "../../src/async/pause.ts";
import type { Nodes } from "./replaced-nodes.ts";

/** Each writes to a session of its own; the last ones to one session. */
const WRITERS = ["a", "b", "c", "d", "e", "f"];
const SHARED = ["e", "f"];
/** Every so many messages one is repeated under its key, and one is searched for, by the other node. */
const CHECK_EVERY = 20;

interface Meta {
  readonly id: string;
  readonly message_count: number;
}

interface Entry {
  readonly id: string;
}

export interface Load {
  /** The texts that each writer was told are stored, in its order. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>;
  /** Messages that were written piece by piece, through both nodes. */
  readonly streamed: readonly string[];
  /** Sentences about answers that lacked something. */
  readonly wrong: readonly string[];
  /** Positions of the feed, as each follower has heard them. */
  readonly heard: readonly (readonly number[])[];
  readonly checks: { searches: number; repeats: number; reads: number };
  total(): number;
  stop(): Promise<void>;
}

export function sessionOf(writer: string): string {
  return SHARED.includes(writer) ? "shared" : `of-${writer}`;
}

const SESSIONS: readonly string[] = [...new Set([...WRITERS.map(sessionOf), "streamed"])];

/** A word that no other message has, of letters alone: a number would be a word of its own. */
function wordOf(writer: string, i: number): string {
  const letters = [...String(i).padStart(6, "0")].map((digit) => "bcdfghjklm"[Number(digit)]);
  return `${writer}${letters.join("")}x`;
}

export async function startLoad(nodes: Nodes): Promise<Load> {
  const acknowledged = new Map<string, string[]>(WRITERS.map((writer) => [writer, []]));
  const streamed: string[] = [];
  const wrong: string[] = [];
  const heard: number[][] = [[], []];
  const checks = { searches: 0, repeats: 0, reads: 0 };
  const stop = new AbortController();
  let isOver = false;
  for (const id of SESSIONS) {
    await nodes.insist(0, "/v1/sessions", { id, agent: "coder", created_by: "ana" }, id);
  }

  const write = async (writer: string, w: number) => {
    const path = `/v1/sessions/${sessionOf(writer)}/messages`;
    const texts = acknowledged.get(writer) as string[];
    for (let i = 0; !stop.signal.aborted; i++) {
      const content = `${writer} says ${wordOf(writer, i)}`;
      const body = { messages: [{ role: "user", actor: writer, content }] };
      // By turns through both nodes.
      const at = (i + w) % 2;
      const key = `${writer}-${i}`;
      const { entries } = (await nodes.insist(at, path, body, key)) as { entries: Entry[] };
      texts.push(content);
      if (i % CHECK_EVERY === 0) await repeat(1 - at, path, body, key, entries[0]?.id);
      if (i % CHECK_EVERY === 10) await search(nodes, 1 - at, writer, i, wrong, checks);
    }
  };

  const repeat = async (at: number, path: string, body: object, key: string, id?: string) => {
    const answer = (await nodes.ask(at, path, body, key)) as { entries: Entry[] } | undefined;
    if (answer === undefined) return;
    checks.repeats++;
    if (answer.entries[0]?.id !== id) {
      wrong.push(`${nodes.version(at)} stored ${key} again, as ${answer.entries[0]?.id}`);
    }
  };

  /** A message whose requests go to both nodes by turns; given up if one of them is not answered. */
  const stream = async () => {
    const path = "/v1/sessions/streamed/streams";
    for (let i = 0; !stop.signal.aborted; i++) {
      const at = i % 2;
      const message = { role: "assistant", actor: "coder" };
      const opened = await nodes.insist(at, path, message, `open-${i}`);
      const { id, lease } = opened as { id: string; lease: string };
      const text = `streamed ${wordOf("s", i)}`;
      const chunks = [text.slice(0, 5), text.slice(5)].map((chunk) => ({ lease, chunks: [chunk] }));
      const first = await nodes.ask(1 - at, `${path}/${id}/chunks`, chunks[0]);
      const second = first && (await nodes.ask(at, `${path}/${id}/chunks`, chunks[1]));
      if (second === undefined) {
        await nodes.insist(at, `${path}/${id}/abort`, {}, undefined);
        continue;
      }
      await nodes.insist(1 - at, `${path}/${id}/commit`, { lease }, `commit-${i}`);
      streamed.push(text);
      await pause(20, stop.signal);
    }
  };

  /** Messages, and the sessions, whose table a migration changes. */
  const read = async () => {
    for (let i = 0; !stop.signal.aborted; i++) {
      const writer = WRITERS[i % WRITERS.length] as string;
      const session = sessionOf(writer);
      const before = WRITERS.filter((each) => sessionOf(each) === session)
        .map((each) => acknowledged.get(each)?.length ?? 0)
        .reduce((sum, count) => sum + count);
      const at = Math.floor(i / WRITERS.length) % 2;
      const answer = await nodes.ask(at, `/v1/sessions/${session}/messages?limit=5`);
      const { total } = (answer ?? { total: before }) as { total: number };
      if (answer !== undefined) checks.reads++;
      if (total < before)
        wrong.push(`${nodes.version(at)} has ${total} of ${before} of ${session}`);
      const meta = (await nodes.ask(at, `/v1/sessions/${session}`)) as Meta | undefined;
      const listed = (await nodes.ask(at, "/v1/sessions?limit=50")) as
        | { sessions: Meta[] }
        | undefined;
      for (const each of [meta, listed?.sessions.find(({ id }) => id === session)]) {
        if (each !== undefined && each.message_count < before) {
          wrong.push(
            `${nodes.version(at)} counts ${each.message_count} of ${before} of ${session}`,
          );
        }
      }
      if (listed !== undefined && listed.sessions.length !== SESSIONS.length) {
        wrong.push(`${nodes.version(at)} lists ${listed.sessions.length} sessions`);
      }
      await pause(10, stop.signal);
    }
  };

  /** Reads the feed through its node, and goes on at the other one with its cursor. */
  const follow = async (first: number, positions: number[]) => {
    let at = first;
    let after = "start";
    for (;;) {
      const isLast = isOver;
      const path = `/v1/changes?limit=500&after=${encodeURIComponent(after)}`;
      const page = (await nodes.ask(at, path)) as
        | { changes: { position: number }[]; next: string; end: boolean }
        | undefined;
      if (page === undefined) {
        at = 1 - at;
        continue;
      }
      positions.push(...page.changes.map(({ position }) => position));
      after = page.next;
      if (page.end && isLast) return;
      if (page.end) await pause(50, stop.signal);
      if (positions.length % 7 === 0) at = 1 - at;
    }
  };

  const running = [...WRITERS.map(write), stream(), read()];
  const following = heard.map((positions, at) => follow(at, positions));
  return {
    acknowledged,
    streamed,
    wrong,
    heard,
    checks,
    total: () => [...acknowledged.values()].reduce((sum, texts) => sum + texts.length, 0),
    stop: async () => {
      stop.abort();
      await Promise.all(running);
      isOver = true;
      await Promise.all(following);
    },
  };
}

/** Whether a node finds a message that is acknowledged; what it lacks goes to `wrong`. */
export async function search(
  nodes: Nodes,
  at: number,
  writer: string,
  i: number,
  wrong: string[],
  checks: { searches: number },
): Promise<void> {
  const answer = await nodes.ask(at, `/v1/search?query=${wordOf(writer, i)}`);
  if (answer === undefined) return;
  checks.searches++;
  const { hits } = answer as { hits: { session_id: string }[] };
  const found = hits.map((hit) => hit.session_id);
  if (found.length !== 1 || found[0] !== sessionOf(writer)) {
    wrong.push(`${nodes.version(at)} finds ${wordOf(writer, i)} in [${found.join(" ")}]`);
  }
}
