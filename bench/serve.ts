/** `npm run bench -- serve`: a server under load, beside a trivial one. */

import { loadavg } from "node:os";
import { join } from "node:path";
import { MAX_TENANT_FOLLOWERS } from "../src/model/limits.ts";
import {
  type BenchOptions,
  type Figures,
  inFreshProcess,
  medians,
  Report,
  withFolder,
} from "./measure.ts";
import { makeTenantTokens, makeTokens } from "./serve-hostile.ts";
import type { LoadTask } from "./serve-scenarios.ts";
import { fillForServer, type Subject, startEcho, startServer } from "./serve-subjects.ts";

const SCENARIOS = new URL("./serve-scenarios.ts", import.meta.url);

/** The load of the bars. */
const RATE = 500;
const CONNECTIONS = 64;

/** Request rates, tried in ascending order until one is not sustained. */
const RATES = [250, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000];

const HOSTILE = new URL("./serve-hostile.ts", import.meta.url);
/** Far below the server's capacity: other tenants' requests must not be noticeable. */
const HOSTILE_RATE = 50;
const HOSTILE_SECONDS = 20;
const HOSTILE_CONNECTIONS = 8;
const QUIET_RUNS = 3;

const MIX_TENANTS = 8;

const SUBSCRIBERS = 1_000;

export async function benchServe(options: BenchOptions): Promise<boolean> {
  const report = new Report("serve");
  const wanted = (name: string) => name.includes(options.only);
  await withFolder(options.folder, async (folder) => {
    const address = join(folder, "serve.db");
    const { messages } = options;
    const { sessions: count = 0 } = await fillForServer({ address, messages });
    if (wanted("load")) await measureLoad(report, address, count, options.runs);
    if (wanted("mix of tenants")) await measureMix(report, join(folder, "mix.db"), messages);
    if (wanted("hostile neighbour")) await measureHostile(report, address, count);
    if (wanted("highest rate")) await measureHighest(report, address, count);
    if (wanted("subscribers")) await measureSubscribers(report, address);
    if (wanted("soak")) await measureSoak(report, address, count, options.soak);
  });
  return report.met;
}

async function measureLoad(
  report: Report,
  address: string,
  sessions: number,
  runs: number,
): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const figures = await withSubject(startServer(address), (server) =>
      load(server, { sessions, rate: RATE, seconds: 20 }),
    );
    report.measurement("sqlite", `load, ${RATE} requests/s`, 1, figures);
    report.bar("append p99 ms", figures["appendP99Ms"], 50);
    report.bar("list p99 ms", figures["listP99Ms"], 50);
    report.bar("search p99 ms", figures["searchP99Ms"], 150);
    report.bar("requests that failed", figures["failed"], 0);
  }
}

/** A third each of appends, lists and searches: nobody waits for another tenant's searches. */
async function measureMix(report: Report, address: string, messages: number): Promise<void> {
  const names = tenants(MIX_TENANTS);
  const { sessions = 0 } = await fillForServer({ address, messages, tenants: names });
  const tokens = await makeTenantTokens(address, names);
  const figures = await withSubject(startServer(address), async (server) => {
    const loaded = await load(server, { sessions, rate: 200, seconds: 60, tokens, mix: "thirds" });
    const around: Figures = { rssMb: server.rssMb(), loadAverage: loadavg()[0] ?? Number.NaN };
    return { ...loaded, ...around };
  });
  report.measurement("sqlite", `mix of ${MIX_TENANTS} tenants, 200 requests/s`, 1, figures);
  for (const kind of ["append", "list", "search"]) {
    report.bar(`${kind} p99 ms in a mix of tenants`, figures[`${kind}P99Ms`], 150);
  }
  report.bar("requests that failed in a mix of tenants", figures["failed"], 0);
}

function tenants(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `tenant-${i}`);
}

/** One server throughout, so that its code is compiled before the load begins. */
async function measureHostile(report: Report, address: string, sessions: number): Promise<void> {
  const { own, hostile } = await makeTokens(address);
  const task = {
    sessions,
    rate: HOSTILE_RATE,
    seconds: HOSTILE_SECONDS,
    tokens: [own],
    mix: "even",
  } as const;
  await withSubject(startServer(address), async (server) => {
    // The first is for warming up.
    const quiet = [];
    for (let run = 0; run <= QUIET_RUNS; run++) quiet.push(await load(server, task));
    const median = medians(quiet.slice(1));
    report.measurement("sqlite", "hostile neighbour, quiet", QUIET_RUNS, median);
    const attacked = async (by: "reader" | "importer"): Promise<Figures> => {
      const rssQuietMb = server.rssMb();
      let rssPeakMb = rssQuietMb;
      const timer = setInterval(() => {
        rssPeakMb = Math.max(rssPeakMb, server.rssMb());
      }, 100);
      const [beside, answers] = await Promise.all([
        load(server, task),
        inFreshProcess(HOSTILE, "attack", {
          url: server.url,
          tokens: hostile,
          by,
          connections: HOSTILE_CONNECTIONS,
          // Also while the load warms up.
          seconds: HOSTILE_SECONDS + 5,
        }),
      ]);
      clearInterval(timer);
      const figures: Figures = { ...beside, ...answers, rssQuietMb, rssPeakMb };
      report.measurement("sqlite", `hostile neighbour, a ${by}`, 1, figures);
      return figures;
    };
    const figures = await attacked("reader");
    for (const kind of ["append", "search"]) {
      const name = `${kind}P99Ms`;
      const limit = 3 * (median[name] ?? Number.NaN);
      report.bar(`${kind} p99 ms beside a hostile neighbour`, figures[name], limit);
    }
    report.bar("requests that failed beside a hostile neighbour", figures["failed"], 0);
    report.bar("peak RSS under attack, MB", figures["rssPeakMb"], 600);
    // A caller with the scope `write` may cost more: measured without a bar.
    await attacked("importer");
    return figures;
  });
}

/** The highest of the rates at which nine in ten requests wait for less than 100 ms. */
async function measureHighest(report: Report, address: string, sessions: number): Promise<void> {
  for (const [name, start] of [
    ["bare echo server", () => startEcho()],
    ["server", () => startServer(address)],
  ] as const) {
    let highest = 0;
    await withSubject(start(), async (subject) => {
      for (const rate of RATES) {
        const figures = await load(subject, { sessions, rate, seconds: 5 });
        const isHeld =
          (figures["p90Ms"] ?? Number.POSITIVE_INFINITY) < 100 && figures["failed"] === 0;
        if (!isHeld) break;
        highest = rate;
      }
      return {};
    });
    report.measurement("sqlite", `highest rate, ${name}`, 1, { requestsPerSecond: highest });
  }
}

async function measureSubscribers(report: Report, address: string): Promise<void> {
  const tokens = await makeTenantTokens(address, tenants(SUBSCRIBERS / MAX_TENANT_FOLLOWERS));
  const figures = await withSubject(startServer(address), async (server) => {
    // A server that has just started warms up for a moment.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const before = server.rssMb();
    const held = await inFreshProcess(SCENARIOS, "holdSubscribers", {
      url: server.url,
      count: SUBSCRIBERS,
      tokens,
      pid: server.pid,
    });
    const figures: Figures = { ...held, rssBeforeMb: before };
    return figures;
  });
  report.measurement("sqlite", `${SUBSCRIBERS} subscribers`, 1, figures);
  const { rssMb = Number.NaN, rssBeforeMb = Number.NaN, rssAfterMb = Number.NaN } = figures;
  report.bar("what 1,000 idle subscribers take, MB", rssMb - rssBeforeMb, 150);
  report.bar("what 1,000 subscribers leave behind, MB", rssAfterMb - rssBeforeMb, 80);
}

async function measureSoak(
  report: Report,
  address: string,
  sessions: number,
  { seconds, rate }: BenchOptions["soak"],
): Promise<void> {
  const figures = await withSubject(startServer(address), async (server) => {
    const samples: [number, number][] = [];
    const started = performance.now();
    const timer = setInterval(() => {
      samples.push([(performance.now() - started) / 60_000, server.rssMb()]);
    }, 1_000);
    const loaded = await load(server, { sessions, rate, seconds });
    clearInterval(timer);
    // The first third is warming up.
    const settled = samples.slice(Math.floor(samples.length / 3));
    return {
      ...loaded,
      slopeMbPerMinute: slope(settled),
      rssEndMb: settled.at(-1)?.[1] ?? Number.NaN,
    };
  });
  report.measurement("sqlite", `soak of ${seconds} s at ${rate} requests/s`, 1, figures);
  report.bar("slope of RSS, MB a minute", figures["slopeMbPerMinute"], 2);
  report.bar("RSS at the end of the soak, MB", figures["rssEndMb"], 600);
}

function load(subject: Subject, task: Omit<LoadTask, "url" | "connections">): Promise<Figures> {
  return inFreshProcess(SCENARIOS, "openLoop", {
    url: subject.url,
    connections: CONNECTIONS,
    ...task,
  });
}

async function withSubject<Result>(
  starting: Promise<Subject>,
  use: (subject: Subject) => Promise<Result>,
): Promise<Result> {
  const subject = await starting;
  try {
    return await use(subject);
  } finally {
    await subject.stop();
  }
}

/** Least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (pick: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)];
  const above = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  const below = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return above / below;
}
