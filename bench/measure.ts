/** Shared by all benches: percentiles, fresh processes, medians over runs, and bars. */

import { fork } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IngestBenchOptions } from "./ingest.ts";
import type { MemoryOptions } from "./memory.ts";
import { plainScript } from "./plain-scripts.ts";
import type { RecallOptions } from "./recall.ts";

export interface BenchOptions {
  /** Runs per measurement, each in a fresh process; the median counts. */
  readonly runs: number;
  readonly backends: readonly ("sqlite" | "postgres")[];
  /** Only measurements whose name contains this. */
  readonly only: string;
  /** Messages of the search corpus. */
  readonly messages: number;
  readonly folder?: string;
  readonly recall?: RecallOptions;
  readonly memory?: MemoryOptions;
  /** The folder that `archive` ingests, and how often, each time as other sessions. */
  readonly data?: string;
  readonly copies: number;
  /** A clone of the repository that `blame` asks about. */
  readonly repository?: string;
  /** How long a server is kept under load, and by how many requests a second. */
  readonly soak: { readonly seconds: number; readonly rate: number };
  readonly ingest?: IngestBenchOptions;
  /** The folder in which `@mastra/libsql` is installed. */
  readonly mastra?: string;
}

/** The figures of one run of a scenario, by name. */
export type Figures = Readonly<Record<string, number>>;

/** Times of single operations, in milliseconds. */
export class Timings {
  readonly #ms: number[] = [];

  async time<Result>(action: () => Promise<Result>): Promise<Result> {
    const start = performance.now();
    const result = await action();
    this.#ms.push(performance.now() - start);
    return result;
  }

  timeSync(action: () => void): void {
    const start = performance.now();
    action();
    this.#ms.push(performance.now() - start);
  }

  percentile(percent: number): number {
    return percentile(this.#ms, percent);
  }

  /** In the order of measurement. */
  perSecond(): number {
    return (1_000 * this.#ms.length) / this.#ms.reduce((sum, ms) => sum + ms, 0);
  }

  figures(): { p50Ms: number; p99Ms: number; perSecond: number } {
    return {
      p50Ms: this.percentile(50),
      p99Ms: this.percentile(99),
      perSecond: this.perSecond(),
    };
  }
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

/** Peak resident memory of this process, storage threads included, in MB. */
export function peakRssMb(): number {
  return process.resourceUsage().maxRSS / 1_024;
}

/**
 * Calls `name` of the module at `module` in a new process and gives its result. `onProgress` gets each
 * value that it sends as `{ progress }`.
 */
export function inFreshProcess(
  module: URL,
  name: string,
  task: unknown,
  flags: readonly string[] = [],
  onProgress?: (progress: unknown) => void,
): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const entry = plainScript(new URL("./fresh-process.ts", import.meta.url));
    const child = fork(entry, [plainScript(module).href, name], {
      execArgv: ["--expose-gc", ...flags],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    let figures: Figures | undefined;
    child.on("message", (message: Figures | { readonly progress: unknown }) => {
      if (typeof message["progress"] === "object") onProgress?.(message["progress"]);
      else figures = message as Figures;
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0 && figures !== undefined) resolve(figures);
      else reject(new Error(`${name} ended with ${signal ?? code} and gave no figures`));
    });
    child.send({ task });
  });
}

/** The median of each figure over the runs. */
export function medians(runs: readonly Figures[]): Figures {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = runs.map((run) => run[name] ?? Number.NaN).sort((a, b) => a - b);
      return [name, values[Math.floor(values.length / 2)] ?? Number.NaN];
    }),
  );
}

/** Prints measurements and bars as JSON lines, and records missed bars. */
export class Report {
  readonly #bench: string;
  met = true;

  constructor(bench: string) {
    this.#bench = bench;
  }

  measurement(backend: string, name: string, runs: number, figures: Figures): void {
    const rounded = Object.entries(figures).map(([key, value]) => [key, round(value)]);
    const line = { bench: this.#bench, backend, measurement: name, runs };
    console.log(JSON.stringify({ ...line, ...Object.fromEntries(rounded) }));
  }

  /** `limit` is the maximum of `figure`, or its minimum if `atLeast`. */
  bar(text: string, figure: number | undefined, limit: number, atLeast = false): void {
    const value = figure ?? Number.NaN;
    const met = atLeast ? value >= limit : value <= limit;
    this.met &&= met;
    const line = { bench: this.#bench, bar: text, figure: round(value), limit, met };
    console.log(JSON.stringify(line));
  }
}

/** Runs `use` with a temporary folder. */
export async function withFolder<Result>(
  parent: string | undefined,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(parent ?? tmpdir(), "backscroll-bench-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Memoizes the result of a run in a file beside its output. */
export async function once(file: string, run: () => Promise<Figures>): Promise<Figures> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Figures;
  const figures = await run();
  writeFileSync(file, JSON.stringify(figures));
  return figures;
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
