/**
 * `npm run bench -- page`: the page in a real Chromium, over a store of many messages; with
 * `--data FOLDER` also over one of real transcripts.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../scripts/test-browser.js";
import { connect, type RemoteEngine } from "../src/client/index.ts";
import { textOf } from "../src/index.ts";
import { copyAsOthers } from "./archive.ts";
import { type BenchOptions, inFreshProcess, Report, withFolder } from "./measure.ts";
import { typing } from "./page-measures.ts";
import { LOADS, type Place, percentile, withPage } from "./page-place.ts";
import { measureLong, measureMinutes } from "./page-session.ts";
import { fillForServer, startServer } from "./serve-subjects.ts";

const QUESTIONS = 5;

export async function benchPage(options: BenchOptions): Promise<boolean> {
  const report = new Report("page");
  const wanted = (name: string) => name.includes(options.only);
  const found = findBrowser();
  if (found === undefined) {
    console.error(`There is no browser: ${HOW_TO_GET_A_BROWSER}.`);
    return false;
  }
  const browser = await chromium.launch({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    chromiumSandbox: process.getuid?.() !== 0,
  });
  try {
    await withFolder(options.folder, async (folder) => {
      const { messages, data } = options;
      const generated = join(folder, "page.db");
      await fillForServer({ address: generated, messages });
      await serving(generated, async (url) => {
        const place = { browser, url, report, messages, store: `${messages} messages` };
        if (wanted("first paint")) await measureFirstPaint(place);
        if (wanted("typing")) await measureTyping(place);
        if (wanted("long session")) await measureLong(place);
        // Too long for a quick run that does not name it.
        const isLong = options.only === "" && options.runs === 1;
        if (wanted("five minutes") && !isLong) await measureMinutes(place);
      });
      if (data === undefined || !wanted("real")) return;
      const files = readdirSync(data, { recursive: true }).length;
      const copies = Math.max(options.copies, Math.ceil(REAL_SESSIONS / Math.max(1, files)));
      const real = join(folder, "real.db");
      const path = copyAsOthers(data, join(folder, "copies"), copies);
      await inFreshProcess(INGEST, "ingestAll", { address: real, home: folder, path });
      await serving(real, async (url, engine) => {
        const { sessions = 0, messages: count = 0 } = (await engine.tenantStatus()) ?? {};
        const store = `${sessions} real sessions`;
        const place = { browser, url, report, messages: count, store };
        await measureFirstPaint(place);
        await measureTyping(place);
      });
    });
  } finally {
    await browser.close();
  }
  return report.met;
}

/** As many as a daily user of four agents had. */
const REAL_SESSIONS = 871;
const INGEST = new URL("./ingest-scenarios.ts", import.meta.url);

async function serving(
  address: string,
  measure: (url: string, engine: RemoteEngine) => Promise<void>,
): Promise<void> {
  const server = await startServer(address);
  try {
    const engine = await connect(server.url);
    await engine.maintainIndex("maintain");
    await measure(server.url, engine);
    await engine.close();
  } finally {
    await server.stop();
  }
}

async function measureFirstPaint(place: Place): Promise<void> {
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    await withPage(place, async (page) => {
      await page.goto(place.url);
      await page.waitForSelector(".session");
      times.push(
        await page.evaluate(
          () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
        ),
      );
    });
  }
  const figures = { p50Ms: percentile(times, 50), p95Ms: percentile(times, 95) };
  place.report.measurement("sqlite", `first paint, ${place.store}`, LOADS, figures);
  place.report.bar(`first contentful paint, ${place.store}, p50 in ms`, figures.p50Ms, 150);
}

async function measureTyping(place: Place): Promise<void> {
  const figures = await withPage(place, async (page) => {
    await page.goto(place.url);
    await page.waitForSelector(".session");
    const times = await page.evaluate(typing, await someQuestions(place.url));
    return { p50Ms: percentile(times, 50), p95Ms: percentile(times, 95), keys: times.length };
  });
  place.report.measurement("sqlite", `typing among ${place.store}`, 1, figures);
  const isLarge = place.messages > 100_000;
  const name = `keystroke to painted results among ${place.store}`;
  place.report.bar(`${name}, p50 in ms`, figures.p50Ms, isLarge ? 80 : 40);
  if (!isLarge) place.report.bar(`${name}, p95 in ms`, figures.p95Ms, 100);
}

/** The first words of messages that the store holds. */
async function someQuestions(url: string): Promise<readonly string[]> {
  const engine = await connect(url);
  const { sessions } = await engine.listSessions({ limit: QUESTIONS });
  const questions = await Promise.all(
    sessions.map(async ({ id }) => {
      const [first] = (await engine.listMessages(id, { limit: 1 })).messages;
      return textOf(first?.blocks ?? [])
        .split(/\s+/)
        .slice(0, 4)
        .join(" ");
    }),
  );
  await engine.close();
  return questions;
}
