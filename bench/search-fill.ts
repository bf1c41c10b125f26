/** Fills a store with the corpus of `bench search`, in its own process. */

import { open } from "./library.ts";
import { type Figures, peakRssMb } from "./measure.ts";
import { readTexts } from "./search-texts.ts";

export interface FillTask {
  readonly address: string;
  readonly messages: number;
  /** The file with their texts: see `search-texts.ts`. */
  readonly texts: string;
  /** Everything on one thread, so on one core. */
  readonly inThread: boolean;
}

const BATCH = 100;
export const AGENTS = 5;
export const PROJECTS = 50;

/** When a session of the corpus began. */
export function startOf(session: number): number {
  return Date.UTC(2026, 0, 1) + session * 60_000;
}

/** Appends the corpus in batches, and waits until all of it is in segments. */
export async function fill(task: FillTask): Promise<Figures> {
  const options = { durability: "process", inThread: task.inThread } as const;
  await using engine = await open(task.address, options);
  let textBytes = 0;
  let sessions = 0;
  let readMs = 0;
  let readCpu = 0;
  const start = performance.now();
  const cpu = process.cpuUsage();
  const corpus = bySession(readTexts(task.texts));
  for (;;) {
    const before = performance.now();
    const cpuBefore = process.threadCpuUsage();
    const next = corpus.next();
    readMs += performance.now() - before;
    readCpu += sum(process.threadCpuUsage(cpuBefore));
    if (next.done) break;
    const { session, messages } = next.value;
    sessions++;
    const handle = await engine.createSession({
      agent: `agent-${session % AGENTS}`,
      createdBy: "bench",
      origin: { projectId: `project-${session % PROJECTS}` },
      startedAt: startOf(session),
    });
    for (let i = 0; i < messages.length; i += BATCH) {
      const batch = messages.slice(i, i + BATCH);
      for (const { text } of batch) textBytes += Buffer.byteLength(text);
      const createdAt = startOf(session);
      await handle.append(
        batch.map(({ role, text }) => ({ role, actor: role, content: text, createdAt })),
      );
    }
  }
  await engine.maintainIndex("flush");
  await engine.maintainIndex("merge");
  // Reading the texts is excluded.
  const seconds = (performance.now() - start - readMs) / 1_000;
  const cpuMicroseconds = sum(process.cpuUsage(cpu)) - readCpu;
  const { bytes, positionBytes, segments } = await engine.indexStatus();
  return {
    messages: task.messages,
    sessions,
    messagesPerSecond: task.messages / seconds,
    // Of all threads. On a busy machine this is more reliable than elapsed time.
    cpuMicrosecondsPerMessage: cpuMicroseconds / task.messages,
    textMb: textBytes / 1e6,
    indexMb: bytes / 1e6,
    indexOfText: bytes / textBytes,
    indexOfTextWithoutPositions: (bytes - positionBytes) / textBytes,
    segments,
    rssMb: peakRssMb(),
  };
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

function* bySession(
  messages: Iterable<{ session: number; role: "user" | "assistant"; text: string }>,
) {
  let current:
    | { session: number; messages: { role: "user" | "assistant"; text: string }[] }
    | undefined;
  for (const message of messages) {
    if (current?.session !== message.session) {
      if (current !== undefined) yield current;
      current = { session: message.session, messages: [] };
    }
    current.messages.push(message);
  }
  if (current !== undefined) yield current;
}
