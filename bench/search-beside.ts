/**
 * Appends in one process while another ingests into the same store and a third builds and merges
 * index segments: appends must not become slower.
 */

import { setTimeout as wait } from "node:timers/promises";
import type * as Archive from "../src/archive/index.ts";
import { messageSource } from "./append-scenarios.ts";
import { open } from "./library.ts";
import { type Figures, inFreshProcess, Timings } from "./measure.ts";

export interface BesideTask {
  readonly address: string;
  /** A folder of transcripts, enough to outlast the appends. */
  readonly transcripts: string;
  readonly seconds: number;
}

/** Between two appends. */
const PAUSE_MS = 5;

export async function appendBeside(task: BesideTask): Promise<Figures> {
  await using engine = await open(task.address);
  const session = await engine.createSession({ agent: "bench", createdBy: "bench" });
  const messages = messageSource();
  const timed = async (seconds: number): Promise<Timings> => {
    const timings = new Timings();
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end) {
      const message = messages();
      await timings.time(() => session.append(message));
      await wait(PAUSE_MS);
    }
    return timings;
  };
  await timed(1);
  const alone = await timed(task.seconds / 4);
  const module = new URL(import.meta.url);
  const others = Promise.all([
    inFreshProcess(module, "ingestMeanwhile", task),
    inFreshProcess(module, "joinMeanwhile", task),
  ]);
  // Both are at work by then.
  await wait(2_000);
  const beside = await timed(task.seconds);
  const [ingested, joined] = await others;
  return {
    p50Ms: beside.percentile(50),
    p99Ms: beside.percentile(99),
    aloneP50Ms: alone.percentile(50),
    aloneP99Ms: alone.percentile(99),
    ...ingested,
    ...joined,
  };
}

/** Gives the amount ingested during the appends. */
export async function ingestMeanwhile(task: BesideTask): Promise<Figures> {
  const built = new URL("../dist/archive/index.js", import.meta.url);
  const { ingest } = (await import(built.href)) as typeof Archive;
  await using engine = await open(task.address, { durability: "process" });
  const stop = AbortSignal.timeout((task.seconds + 3) * 1_000);
  let megabytes = 0;
  const variables = { WORKSTATION_ID: "bench" };
  await ingest(engine, {
    environment: { home: task.transcripts, variables, platform: "linux" },
    paths: [task.transcripts],
    signal: stop,
    onProgress: ({ bytes }) => {
      megabytes = bytes / 1_000_000;
    },
  });
  return { ingestedMb: megabytes };
}

/** Rebuilds and merges the segments of the whole store repeatedly. */
export async function joinMeanwhile(task: BesideTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: "process" });
  const end = performance.now() + (task.seconds + 3) * 1_000;
  let documents = 0;
  for (let i = 0; performance.now() < end; i++) {
    let before = 0;
    await engine.maintainIndex(i % 2 === 0 ? "rebuild" : "merge", {
      onProgress: (progress) => {
        documents += progress.documents - before;
        before = progress.documents;
      },
    });
  }
  return { joinedDocuments: documents };
}
