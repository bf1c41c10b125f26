/** Rules and marks in runs that last, and sessions that have been kept for long enough. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { open } from "../../open.ts";
import { createMachine, type Machine, NOTES, notes } from "../archive.cases.ts";
import { expireSessions } from "../ingest.ts";
import { createSetting } from "../ingest-setting.ts";
import { watchPlaces } from "../watch.ts";
import { markIncognito } from "./incognito.ts";

function configure({ home }: Machine, config: object): void {
  mkdirSync(join(home, ".backscroll"), { recursive: true });
  writeFileSync(join(home, ".backscroll/config.json"), JSON.stringify(config));
}

const talk = (session: string, cwd: string, text: string) => notes({ text, session, cwd });
const texts = async (tenant: TenantEngine) =>
  (await tenant.listSessions({ machineMade: true })).sessions.map(
    ({ origin }) => origin.projectPath,
  );

test("a process that follows transcripts obeys a rule made meanwhile, and one taken back", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const { home } = machine;
  const end = new AbortController();
  const outcomes: string[] = [];
  machine.put("notes/a.jsonl", talk("a", "/srv/open", "one"));
  let watching: Promise<void> = Promise.resolve();
  await new Promise<number>((resolve, reject) => {
    watching = watchPlaces(engine, {
      environment: { home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" },
      sources: [NOTES],
      signal: end.signal,
      onReady: resolve,
      onOutcome: ({ how }) => outcomes.push(how),
    });
    watching.catch(reject);
  });
  configure(machine, { ignore: { folders: ["/srv/secret"] } });
  machine.put("notes/b.jsonl", talk("b", "/srv/secret/x", "two"));
  await expect.poll(() => outcomes, { interval: 20 }).toEqual(["read", "ignored"]);
  expect(await texts(engine)).toEqual(["/srv/open"]);
  configure(machine, {});
  machine.put(
    "notes/b.jsonl",
    `${talk("b", "/srv/secret/x", "two")}${notes("x", "three").split("\n")[1]}\n`,
  );
  await expect.poll(() => outcomes, { interval: 20 }).toEqual(["read", "ignored", "read"]);
  expect((await texts(engine)).sort()).toEqual(["/srv/open", "/srv/secret/x"]);
  end.abort();
  await watching;
});

test("a session that is marked while it is being stored is deleted again", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  machine.put("notes/a.jsonl", talk("a", "/srv/shop", "secret"));
  const importSession: TenantEngine["importSession"] = async (session, options) => {
    const result = await engine.importSession(session, options);
    await markIncognito(engine, ["a"]);
    return result;
  };
  const tenant = new Proxy(engine as TenantEngine, {
    get: (target, name) => {
      if (name === "importSession") return importSession;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const { totals } = await machine.run(tenant);
  expect([...totals.ignoredBy]).toEqual([["incognito", 1]]);
  expect((await engine.tenantStatus())?.sessions).toBe(0);
  expect(await engine.originals.list({ limit: 10 })).toEqual([]);
  await machine.run(engine, { force: true });
  expect((await engine.tenantStatus())?.sessions).toBe(0);
});

const DAY = 86_400_000;

test("sessions are kept for as long as the person says, and not ingested again", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  machine.put("notes/old.jsonl", talk("old", "/srv/shop", "old"));
  const own = await engine.createSession({ agent: "a", createdBy: "b" });
  await own.append({ role: "user", actor: "b", content: "mine", createdAt: 1 });
  const elsewhere = createMachine("w2");
  elsewhere.put("notes/theirs.jsonl", talk("theirs", "/srv/shop", "theirs"));
  await elsewhere.run(engine);
  expect(await machine.run(engine)).toMatchObject({ expired: 0 });
  // Messages of these files are from 1970.
  configure(machine, { keep: "90d" });
  const environment = {
    home: machine.home,
    variables: { WORKSTATION_ID: "w1" },
    platform: "linux",
  };
  const setting = await createSetting(engine, { environment, sources: [NOTES] });
  expect(await expireSessions(setting, 1_001 + 90 * DAY)).toBe(0);
  expect(await machine.run(engine, { dryRun: true })).toMatchObject({ expired: 0 });
  expect(await machine.run(engine)).toMatchObject({ expired: 1 });
  expect(await machine.run(engine, { force: true })).toMatchObject({ expired: 0 });
  const left = (await engine.listSessions()).sessions.map(({ origin }) => origin.workstation);
  expect(left.sort()).toEqual(["w2", undefined]);
  expect(
    (await engine.originals.list({ limit: 10 })).map(({ workstation }) => workstation),
  ).toEqual(["w2"]);
});
