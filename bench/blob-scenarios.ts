/**
 * The scenario of `bench blobs`: one transcript, stored with a given threshold.
 *
 * It uses the store itself, because the threshold is a constant above it.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { toEntry } from "../src/engine/entry-view.ts";
import type { Block } from "../src/model/block.ts";
import { createUlids } from "../src/model/ids.ts";
import { openStore } from "../src/open.ts";
import type { NewEntry } from "../src/store/records.ts";
import type { Store } from "../src/store/store.ts";
import { encodeContent } from "../src/transcript/content.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { randomNumbers, Words } from "./synthetic.ts";

export interface BlobTask {
  readonly folder: string;
  readonly thresholdBytes: number;
  readonly turns: number;
  readonly queries: number;
}

const TENANT = "default";
const SESSIONS = 20;

export async function storeTranscripts(task: BlobTask): Promise<Figures> {
  const path = join(task.folder, `blobs-${process.pid}.db`);
  const store = await openStore(path, { durability: "process", inThread: true });
  const appends = new Timings();
  let inputBytes = 0;
  const counts: number[] = [];
  for (let n = 0; n < SESSIONS; n++) {
    const messages = transcript(n, task.turns);
    counts.push(messages.length);
    await createSession(store, `s${n}`);
    for (const blocks of messages) {
      inputBytes += Buffer.byteLength(JSON.stringify(blocks));
      // Encoding is part of a message's cost.
      await appends.time(() =>
        store.append(TENANT, {
          sessionId: `s${n}`,
          entries: [toNewEntry(blocks, task.thresholdBytes)],
          now: Date.now(),
        }),
      );
    }
  }
  const words = new Words(9);
  const whole = await pages(store, task.queries, counts, words, true);
  const preview = await pages(store, task.queries, counts, words, false);
  await store.close();
  return {
    inputMb: inputBytes / 2 ** 20,
    databaseMb: statSync(path).size / 2 ** 20,
    databaseBytesPerInputByte: statSync(path).size / inputBytes,
    appendP50Ms: appends.percentile(50),
    appendP99Ms: appends.percentile(99),
    pageP50Ms: whole.percentile(50),
    pageP99Ms: whole.percentile(99),
    previewP50Ms: preview.percentile(50),
    previewP99Ms: preview.percentile(99),
    rssMb: peakRssMb(),
  };
}

async function pages(
  store: Store,
  queries: number,
  counts: readonly number[],
  words: Words,
  payloads: boolean,
): Promise<Timings> {
  const page = async () => {
    const n = words.below(SESSIONS);
    const found = await store.readEntries(TENANT, {
      select: "messages",
      sessionId: `s${n}`,
      offset: words.below((counts[n] ?? 0) - 50),
      limit: 50,
      payloads,
    });
    return found.entries.map((record) => toEntry(record, found.payloads));
  };
  for (let i = 0; i < queries / 5; i++) await page();
  const timings = new Timings();
  for (let i = 0; i < queries; i++) await timings.time(page);
  return timings;
}

/**
 * A coding agent at work: a question, then calls and results in turns, then an answer. Half of the
 * results are under 1.5 KB, one in ten is over 11 KB; a third repeat a file that was read before.
 */
function transcript(seed: number, turns: number): Block[][] {
  const words = new Words(seed + 100, 2_000);
  const random = randomNumbers(seed);
  const files: string[] = [];
  const messages: Block[][] = [];
  for (let turn = 0; turn < turns; turn++) {
    messages.push([{ type: "text", text: words.text(10 + words.below(60)) }]);
    for (let call = 1 + words.below(6); call > 0; call--) {
      const id = `call_${turn}_${call}`;
      const input = JSON.stringify({ path: `src/${words.text(1)}.ts`, limit: words.below(500) });
      messages.push([
        { type: "text", text: words.text(5 + words.below(25)) },
        { type: "tool_use", id, name: "read", input },
      ]);
      const known = files[words.below(files.length)];
      const output = known !== undefined && random() < 0.33 ? known : code(words, random);
      files.push(output);
      messages.push([{ type: "tool_result", toolUseId: id, output, isError: false }]);
    }
    messages.push([{ type: "text", text: words.text(30 + words.below(150)) }]);
  }
  return messages;
}

/** Lines with indentation and repeated words, of a size by a long-tailed law. */
function code(words: Words, random: () => number): string {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const bytes = Math.min(200_000, 1_500 * Math.exp(1.6 * normal));
  const lines: string[] = [];
  for (let size = 0; size < bytes; ) {
    const line = `${lines.length + 1}\t${"  ".repeat(words.below(5))}${words.text(1 + words.below(9))};`;
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join("\n");
}

const nextId = createUlids({
  now: () => Date.now(),
  random: (bytes) => crypto.getRandomValues(bytes),
});

function toNewEntry(blocks: readonly Block[], thresholdBytes: number): NewEntry {
  const content = encodeContent({ blocks, data: null }, thresholdBytes);
  return {
    id: nextId(),
    kind: "message",
    role: blocks[0]?.type === "tool_result" ? "tool" : "assistant",
    actor: null,
    content: content.text,
    payloads: content.payloads,
    contentBytes: content.bytes,
    usage: null,
    model: null,
    adapter: null,
    metadata: null,
    createdAt: Date.now(),
    interaction: false,
  };
}

async function createSession(store: Store, id: string): Promise<void> {
  const now = Date.now();
  await store.createSession(TENANT, {
    id,
    agent: "bench",
    createdBy: "bench",
    owner: "bench",
    title: "",
    participants: [],
    metadata: {},
    ttl: null,
    retention: "full",
    origin: {},
    startedAt: now,
    now,
  });
}
