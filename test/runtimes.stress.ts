/**
 * The packed package in the real tools, from npm: bundled by esbuild, in a server of Next.js, in Bun and
 * in Deno. Each is at a fixed version; docs/deploy.md has them.
 *
 * Needs the network for `npm install`. Tests of a tool that cannot be had say why they are skipped.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  onTestFinished,
  type TestContext,
  test,
} from "vitest";
import { open, textOf } from "../src/index.ts";
import { environmentOf, type Ran, run } from "./support/cli.ts";
import { createFolder, removeFolder } from "./support/folder.ts";
import { packInto } from "./support/packed.ts";

const TALK = ["Why does the cron job run twice?", "Because the lock is gone."];
const NOTE = "SQLite runs on the program's own thread";
const IN_DENO = "Deno's threads cannot wait for messages as SQLite needs";
const IN_BUNDLE = "this bundle is without storage-thread.js; keep backscroll out of it (external)";

/** What a program does with `memory`, an open store or a server's. */
const TALKING = `
  const session = await memory.createSession();
  await session.append({ role: "user", content: ${JSON.stringify(TALK[0])} });
  await session.append({ role: "assistant", content: ${JSON.stringify(TALK[1])} });
  const { hits } = await memory.searchSessions("lock");
  const { messages } = await session.buildContext({ tokenBudget: 1_000 });
  await memory.close();
  const context = messages.map(({ blocks }) => blocks[0].text);
  const did = { id: session.id, hits: hits.length, context };
`;

const program = (from: string, opened: string) => `
  import { ${opened} as open } from ${JSON.stringify(from)};
  const main = async () => {
    const memory = await open(process.argv.at(-1));
    ${TALKING}
    console.log(JSON.stringify(did));
  };
  main().catch((error) => {
    console.log(error.code + ": " + error.message);
    process.exitCode = 1;
  });
`;

const ROUTE = `
  import { open } from "backscroll";
  export const dynamic = "force-dynamic";
  export const GET = async () => {
    const memory = await open(process.env.STORE);
    ${TALKING}
    return Response.json(did);
  };
`;

let home: string;
let tarball: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "backscroll-runtimes-"));
  tarball = await packInto(home);
});
afterAll(() => removeFolder(home));

interface Place {
  readonly folder: string;
  /** Skips the test if the packages could not be installed. */
  check(context: TestContext): void;
}

/** Codes of npm where the registry cannot be reached, or has no program for this machine. */
const OUT_OF_REACH =
  /^npm error code (ENOTFOUND|ENETUNREACH|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EBADPLATFORM|E404|E5\d\d)$/m;

/** A folder with `packages`, the packed package, and programs of a store and of a server's client. */
function installed(name: string, packages: readonly string[]): Place {
  let obstacle: string | undefined;
  const place: Place = {
    get folder() {
      return join(home, name);
    },
    check: (context) => context.skip(obstacle !== undefined, obstacle),
  };
  beforeAll(async () => {
    mkdirSync(place.folder);
    const write = (file: string, text: string) => writeFileSync(join(place.folder, file), text);
    write("package.json", JSON.stringify({ private: true, type: "module" }));
    write("store.mjs", program("backscroll", "open"));
    write("client.mjs", program("backscroll/client", "connect"));
    // Without scripts: the packages of each platform have the programs.
    const words = ["--ignore-scripts", "--no-audit", "--no-fund"];
    // Without the registry, the defaults wait for minutes.
    const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
    const ran = await run("npm", ["install", ...words, ...patience, tarball, ...packages], {
      cwd: place.folder,
      env: setOnly(process.env),
    });
    if (ran.code === 0) return;
    const [reason] = OUT_OF_REACH.exec(ran.stderr) ?? [];
    expect(reason, ran.stderr).toBeDefined();
    obstacle = `${packages.join(", ")}: ${reason}`;
    process.stderr.write(`The tests of ${name} are skipped: ${obstacle}\n`);
  });
  afterAll(() => removeFolder(place.folder));
  return place;
}

/** Runs a program on a new store, and reads the store with Node. Without `why`, it has threads. */
async function expectTalk(start: (store: string) => Promise<Ran>, why?: string): Promise<void> {
  const store = join(createFolder(), "talk.db");
  const { code, stdout, stderr } = await start(store);
  expect(code, stdout + stderr).toBe(0);
  const { id, ...did } = JSON.parse(stdout) as { readonly id: string };
  expect(did).toEqual({ hits: 1, context: TALK });
  if (why === undefined) expect(stderr).toBe("");
  else
    expect(
      stderr.split(`${NOTE}, which each read and write of ${store} holds: ${why}`),
    ).toHaveLength(2);
  await using memory = await open(store, { readOnly: true });
  const { messages } = await (await memory.getSession(id)).listMessages();
  expect(messages.map(({ blocks }) => textOf(blocks))).toEqual(TALK);
  expect((await memory.verify()).ok).toBe(true);
}

interface Served {
  readonly url: string;
  /** Gives standard error. */
  stop(): Promise<string>;
}

/** Starts a server with Node, which prints its address. */
async function serve(
  words: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Served> {
  const child = spawn(process.execPath, words, { cwd, env: environmentOf(env) });
  const closed = once(child, "close");
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const stop = async () => {
    child.kill();
    await closed;
    return stderr;
  };
  onTestFinished(() => void child.kill());
  const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0];
  await expect.poll(address).toBeDefined();
  return { url: address() ?? "", stop };
}

function setOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined;
  return Object.fromEntries(Object.entries(environment).filter(isSet));
}

describe("esbuild 0.28.2", () => {
  const place = installed("esbuild", ["esbuild@0.28.2", "pg@8.23.1"]);
  const bundle = async (file: string, words: readonly string[]) => {
    const esbuild = join(place.folder, "node_modules/esbuild/bin/esbuild");
    const all = ["store.mjs", "--bundle", "--platform=node", "--log-level=warning", ...words];
    const ran = await run(process.execPath, [esbuild, ...all, `--outfile=${file}`], {
      cwd: place.folder,
    });
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
    return file;
  };
  const MODELS = ["--external:ai", "--external:@ai-sdk/openai-compatible"];

  describe.each([
    ["esm", "mjs"],
    ["cjs", "cjs"],
  ])("%s", (format, ending) => {
    test("with the package outside, a bundle has its threads", async (context) => {
      place.check(context);
      const words = [`--format=${format}`, "--external:backscroll"];
      const file = await bundle(join(place.folder, `outside.${ending}`), words);
      await expectTalk((store) => run(process.execPath, [file, store]));
    });

    test("one file, alone in a folder, runs on the program's thread, and says so", async (context) => {
      place.check(context);
      const file = join(createFolder(), `alone.${ending}`);
      await bundle(file, [`--format=${format}`, ...MODELS]);
      await expectTalk((store) => run(process.execPath, [file, store]), IN_BUNDLE);
    });
  });

  test("one file of CommonJS without PostgreSQL's package says what it lacks", async (context) => {
    place.check(context);
    const file = join(createFolder(), "alone.cjs");
    await bundle(file, ["--format=cjs", "--external:pg", ...MODELS]);
    await expectTalk((store) => run(process.execPath, [file, store]), IN_BUNDLE);
    const { stdout } = await run(process.execPath, [file, "postgres://127.0.0.1:1/none"]);
    expect(stdout).toMatch(/^invalid_input: PostgreSQL needs the package pg: npm install pg /);
  });
});

describe("Next.js 16.4.6", () => {
  const place = installed("next", ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"]);

  test.for([
    ["Turbopack", "--turbopack"],
    ["webpack", "--webpack"],
  ] as const)(
    "built by %s, a route handler has a store with its threads",
    async ([, bundler], context) => {
      place.check(context);
      const { folder } = place;
      const next = join(folder, "node_modules/next/dist/bin/next");
      const env = { HOME: folder, NEXT_TELEMETRY_DISABLED: "1" };
      const app = join(folder, "app");
      mkdirSync(join(app, "talk"), { recursive: true });
      writeFileSync(join(app, "talk/route.js"), ROUTE);
      const layout = "({ children }) => <html><body>{children}</body></html>";
      writeFileSync(join(app, "layout.js"), `export default ${layout};`);
      const config = `export default { serverExternalPackages: ["backscroll"] };`;
      writeFileSync(join(folder, "next.config.mjs"), config);
      const built = await run(process.execPath, [next, "build", bundler], { cwd: folder, env });
      expect(built.code, built.stdout + built.stderr).toBe(0);
      await expectTalk(async (store) => {
        const words = [next, "start", "--port=0", "--hostname=127.0.0.1"];
        const served = await serve(words, folder, { ...env, STORE: store });
        const answer = await fetch(`${served.url}/talk`);
        const [code, stdout] = [answer.ok ? 0 : 1, await answer.text()];
        return { code, stdout, stderr: await served.stop() };
      });
    },
  );
});

/** `packages`: their names for this machine. */
const RUNTIMES = [
  {
    name: "Bun",
    version: "1.4.4",
    packages: `@oven/bun-${process.platform === "win32" ? "windows" : process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`,
    binary: "bin/bun",
    words: ["run"],
    why: undefined,
    old: "1.3.14",
    lack: "Bun 1.3.14 has no node:sqlite, which",
  },
  {
    name: "Deno",
    version: "2.9.6",
    packages: `@deno/${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}`,
    binary: "deno",
    words: ["run", "--allow-all"],
    why: IN_DENO,
    old: "2.5.7",
    lack: "Deno 2.5.7 has an older node:sqlite than",
  },
] as const;

describe.each(RUNTIMES)("$name $version", (runtime) => {
  const { name, version, packages, binary, words, why, old, lack } = runtime;
  const place = installed(name, [
    `current@npm:${packages}@${version}`,
    `old@npm:${packages}@${old}`,
  ]);
  const ending = process.platform === "win32" ? ".exe" : "";
  const start = (which: "current" | "old", args: readonly string[]) =>
    run(join(place.folder, "node_modules", which, binary + ending), [...words, ...args], {
      cwd: place.folder,
      env: { NO_COLOR: "1", HOME: place.folder },
    });

  test(`a program has a store${why === undefined ? ", with its threads" : ", on its own thread, and says so"}`, async (context) => {
    place.check(context);
    await expectTalk((store) => start("current", ["store.mjs", store]), why);
  });

  test(`in ${old} it says in a sentence what is missing, and leaves no file`, async (context) => {
    place.check(context);
    const store = join(createFolder(), "refused.db");
    const { code, stdout, stderr } = await start("old", ["store.mjs", store]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toBe(
      `unsupported_storage: ${lack} a store in SQLite needs: use Node 22.18, Bun 1.4, Deno 2.7 or newer, or a server and backscroll/client\n`,
    );
    expect(existsSync(store)).toBe(false);
  });

  test.for(["current", "old"] as const)(
    "the client of a server works (%s)",
    async (which, context) => {
      place.check(context);
      await expectTalk(async (store) => {
        const bin = join(place.folder, "node_modules/backscroll/bin/backscroll.js");
        const words = [bin, "serve", "--port=0", "--db", store];
        const served = await serve(words, place.folder, { HOME: place.folder });
        const ran = await start(which, ["client.mjs", served.url]);
        return { ...ran, stderr: ran.stderr + (await served.stop()) };
      });
    },
  );
});
