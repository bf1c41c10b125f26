import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { generateDocs } from "../scripts/generate-docs.ts";
import { COMMANDS } from "../src/cli/commands/index.ts";
import type { Engine } from "../src/engine/engine.ts";
import { CHANGE_KINDS } from "../src/model/change.ts";
import { INPUTS } from "../src/model/inputs/index.ts";
import { open } from "../src/open.ts";
import { openServer, type RunningServer } from "../src/server/serve.ts";
import { note } from "../src/unasked/log.ts";
import { callCli, type Ran, ROOT, run } from "./support/cli.ts";
import { type EmbeddingServer, startEmbeddingServer } from "./support/embedding-server.ts";
import { removeFolder } from "./support/folder.ts";
import { type ModelServer, says, startModelServer } from "./support/model-server.ts";
import { writeReadmeHome } from "./support/readme-home.ts";
import { openShellCommands, type ShellCommands } from "./support/shell-commands.ts";
import { streamsOf } from "./support/streamed-answer.ts";

/**
 * Runs the documents. The `ts` blocks of a document make one program, its `sh` blocks one script,
 * in order; other blocks are only shown.
 */

const DOCUMENTS = ["README.md", ...globSync("docs/*.md", { cwd: ROOT }).sort()];
const PAGES = [
  ...DOCUMENTS,
  ...globSync(["docs/decisions/*.md", "*.md"], { cwd: ROOT }).filter((p) => p !== "README.md"),
];

/** Entry points and their source files. */
const MODULES = [
  ["backscroll", "index"],
  ["backscroll/ai", "adapters/ai-sdk/index"],
  ["backscroll/anthropic-memory", "adapters/anthropic-memory/index"],
  ["backscroll/assistant-ui", "adapters/assistant-ui/index"],
  ["backscroll/claude-agent-sdk", "adapters/claude-agent-sdk/index"],
  ["backscroll/langgraph", "adapters/langgraph/index"],
  ["backscroll/mastra", "adapters/mastra/index"],
  ["backscroll/openai-agents", "adapters/openai-agents/index"],
  ["backscroll/server", "server/index"],
  ["backscroll/client", "client/index"],
  ["backscroll/convert", "convert/index"],
  ["backscroll/compat", "compat"],
  ["backscroll/gateway", "gateway/index"],
  ["backscroll/ingest", "archive/index"],
  ["backscroll/models", "models"],
  ["backscroll/work", "work"],
  ["backscroll/types", "types"],
  ["backscroll/store-kit", "store-kit/index"],
] as const;

/** Built code starts and type-checks several times as fast as the sources. */
const isBuilt = process.env["BACKSCROLL_BUILT"] !== undefined;

function typesOf(module: string): string {
  return isBuilt ? `dist/${module}.d.ts` : `src/${module}.ts`;
}

/** Standard input of interactive programs. */
const TYPED = "Why does the cron job run twice?\n/search cron\n";

const folder = mkdtempSync(join(tmpdir(), "backscroll-docs-"));

beforeAll(() => {
  const shim = join(folder, "bin", "backscroll");
  mkdirSync(dirname(shim));
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/backscroll.js" "$@"\n`);
  chmodSync(shim, 0o755);
});

/** The server that documents call `http://127.0.0.1:7423`. */
let server: RunningServer;
let engine: Engine;
let commands: ShellCommands;

beforeAll(async () => {
  commands = await openShellCommands();
  engine = await open(":memory:");
  server = await openServer(engine, { version: "0.0.0", port: 0 });
});

afterAll(async () => {
  await server.stop(100);
  await engine.close();
  await commands.close();
  removeFolder(folder);
});

function atServer(text: string): string {
  return text.replaceAll("http://127.0.0.1:7423", server.url);
}

test("the generated parts are up to date", () => {
  for (const [file, text] of generateDocs()) {
    expect(readFileSync(file, "utf8"), `${file} is out of date: npm run docs`).toBe(text);
  }
});

test("every kind of change is explained", () => {
  const text = readFileSync(join(ROOT, "docs/audit.md"), "utf8");
  expect(CHANGE_KINDS.filter((kind) => !text.includes(`\`${kind}\``))).toEqual([]);
});

test("every option of open is explained", () => {
  const text = readFileSync(join(ROOT, "docs/library.md"), "utf8");
  expect(Object.keys(INPUTS.open).filter((option) => !text.includes(`\`${option}\``))).toEqual([]);
});

test("every link has a target", () => {
  const broken = PAGES.flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)]
      .map(([, file = "", anchor]) => ({ file, anchor }))
      .filter(({ file }) => !/^https?:/.test(file))
      .filter(({ file, anchor }) => {
        const target = file === "" ? page : join(dirname(page), file);
        if (globSync(target, { cwd: ROOT }).length === 0) return true;
        return anchor !== undefined && !anchorsOf(target).has(anchor);
      })
      .map(({ file, anchor }) => `${page}: ${file}#${anchor ?? ""}`),
  );
  expect(broken).toEqual([]);
});

test("README shows the output of a terminal of 80 columns", async () => {
  const home = join(folder, "readme");
  writeReadmeHome(home);
  const [shown = ""] = blocks("README.md", "console");
  const commands = shown.split(/^\$ backscroll /m).slice(1);
  for (const block of commands.filter((block) => !block.startsWith("setup"))) {
    const [words = "", ...lines] = block.trimEnd().split("\n");
    const ran = await callCli(words.split(" "), { env: { HOME: home, COLUMNS: "80" } });
    const printed = (ran.stdout + ran.stderr).trimEnd().split("\n");
    // README shows the installed program, and no two runs have the same speed or date.
    const comparable = (line: string) =>
      line
        .replace("node bin/backscroll.js", "backscroll")
        .replace(/\(.* in .*\/s\)/, "(speed)")
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d$/, "(date)");
    expect(printed.map(comparable)).toEqual(lines.map(comparable));
  }
});

describe("the programs in the documents", () => {
  /** The model of every call in the documents. */
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
    model.answer(
      streamsOf(() => ({
        text: ["Because the lock ", "is gone."],
        usage: { input: 90, output: 6 },
      })),
    );
  });
  afterAll(() => model.close());

  const programs = DOCUMENTS.map((page) => ({
    page,
    source: blocks(page, "ts").join("\n"),
  })).filter(({ source }) => source !== "");

  test("compile", async () => {
    const place = join(folder, "types");
    mkdirSync(place);
    writeFileSync(
      join(place, "tsconfig.json"),
      JSON.stringify({
        extends: join(ROOT, "tsconfig.json"),
        compilerOptions: {
          isolatedDeclarations: false,
          declaration: false,
          noUnusedLocals: false,
          paths: Object.fromEntries(
            MODULES.map(([name, file]) => [name, [join(ROOT, typesOf(file))]]),
          ),
          typeRoots: [join(ROOT, "node_modules/@types")],
        },
        include: ["*.ts"],
      }),
    );
    writeFileSync(join(place, "package.json"), '{ "type": "module" }');
    for (const { page, source } of programs) {
      writeFileSync(join(place, `${page.replaceAll("/", "-")}.ts`), `${source}\nexport {};\n`);
    }
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const ran = await run(process.execPath, [tsc, "-p", place, "--checkers", "1"]);
    expect(ran.stdout + ran.stderr).toBe("");
  });

  test.each(programs)("$page runs", async ({ page, source }) => {
    const place = join(folder, `ts-${page.replaceAll("/", "-")}`);
    mkdirSync(place);
    const file = (name: string) =>
      JSON.stringify(
        pathToFileURL(join(ROOT, isBuilt ? `dist/${name}.js` : `src/${name}.ts`)).href,
      );
    const text = MODULES.reduce(
      (before, [name, module]) => before.replaceAll(`"${name}"`, file(module)),
      atServer(source),
    );
    const program = join(place, "program.mjs");
    writeFileSync(program, stripTypeScriptTypes(text));
    const env = { HOME: place, BACKSCROLL_MODEL_URL: model.url };
    const main = join(ROOT, "test/support/document-program.ts");
    const ran = await callCli([program], { main, cwd: place, env, input: TYPED });
    expect(ran.stderr).toBe("");
    // Printed checks of a document hold.
    expect([ran.code, ran.stdout]).toEqual([0, expect.not.stringMatching(/undefined|false/)]);
  });
});

describe("the commands in the documents", () => {
  const scripts = DOCUMENTS.map((page) => ({ page, script: blocks(page, "sh").join("\n") })).filter(
    ({ script }) => script !== "",
  );

  test.concurrent.each(scripts)("$page runs", async ({ page, script }) => {
    const home = join(folder, `sh-${page.replaceAll("/", "-")}`);
    const ran = await shell(commands.definition + atServer(script), home);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
  });

  describe("the examples of --help run in a prepared store", () => {
    const examples = COMMANDS.flatMap(({ name, examples }) =>
      examples.map((example) => ({ name, example })),
    );
    const inShell = ({ name, example }: { name: string; example: string }) =>
      ENDLESS.includes(name) || /[<>|]/.test(example);
    const hosted = examples.filter((one) => !inShell(one));
    const home = join(folder, "examples");
    let model: ModelServer;
    let real: Record<string, string>;
    let wordsOf: ReadonlyMap<string, readonly string[]>;
    let embedding: EmbeddingServer;
    const env = (isEmbedding = false) => ({
      HOME: home,
      BACKSCROLL_DB: join(home, "store.db"),
      BACKSCROLL_MODEL_URL: model.url,
      BACKSCROLL_MODEL: "example",
      // Only for `embed`: other examples run without an embedder.
      ...(isEmbedding ? { BACKSCROLL_EMBED_URL: embedding.url, BACKSCROLL_EMBED_MODEL: "m" } : {}),
    });
    const given = (example: string) =>
      Object.entries(real).reduce((text, [id, other]) => text.replaceAll(id, other), example);

    beforeAll(async () => {
      mkdirSync(join(home, "src"), { recursive: true });
      createRepository(home);
      real = await createWorld(join(folder, "world.db"));
      model = await startModelServer();
      embedding = await startEmbeddingServer();
      model.answer(says("[]"));
      wordsOf = await splitWords(
        hosted.map(({ example }) => example),
        given,
        home,
      );
      writeFileSync(join(home, "answer.txt"), "Because the lock is gone.\n");
      copyFileSync(join(ROOT, "test/fixtures/pi/version-2.jsonl"), join(home, "session.jsonl"));
    });
    // Each example starts from the same store.
    beforeEach(() => {
      for (const suffix of ["", "-wal", "-shm"]) {
        rmSync(join(home, `store.db-index${suffix}`), { force: true });
      }
      copyFileSync(join(folder, "world.db"), join(home, "store.db"));
    });
    afterAll(() => Promise.all([model.close(), embedding.close()]));

    test.each(hosted)("$example", async ({ name, example }) => {
      const ran = await callCli(wordsOf.get(example) ?? [], {
        env: env(name === "embed"),
        cwd: home,
      });
      // The example session was not ingested, so there may be nothing to resume, trace or blame.
      const codes = ["blame", "pr", "recap", "related", "resume", "trace", "unasked ask"].includes(
        name,
      )
        ? [0, 1]
        : [0];
      expect(codes, ran.stderr).toContain(ran.code);
    });

    test.each(examples.filter(inShell))("$example", async ({ name, example }) => {
      // The default port may be taken by a running server.
      const port =
        ["serve", "open"].includes(name) && !example.includes("--port") ? "--port 0" : "";
      const end = ENDLESS.includes(name) ? `2> notes & ${KILL_ONCE_SHOWN}` : "";
      const ran = await shell(
        `: > output; backscroll ${given(example)} ${port} > output ${end}`,
        home,
        env(),
      );
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, "", ""]);
    });
  });
});

test("documents mention no private source", () => {
  const words = /SPEC\.md|DESIGN\.md|\bseeds?\b|\/work\/|\/shared\/|registry\./i;
  // The seed of random numbers is public.
  const named = /`seed`|--seed S/g;
  const talking = PAGES.filter((page) =>
    words.test(readFileSync(join(ROOT, page), "utf8").replace(named, "")),
  );
  expect(talking).toEqual([]);
});

/** Commands that run until interrupted: they are killed after their first output. */
const ENDLESS = ["changes", "watch", "serve", "open"];

const KILL_ONCE_SHOWN =
  "until [ -s output ] || ! kill -0 $! 2> /dev/null; do sleep 0.1; done; kill $!; wait $!";

/** What links to a page may name: its headings, as GitHub writes their anchors, and ids. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, page), "utf8").replace(/^```.*?^```/gms, "");
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...headings, ...[...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)]);
}

/** The words of each line as a shell splits them. */
async function splitWords(
  lines: readonly string[],
  given: (line: string) => string,
  home: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const script = lines.map((line) => `printf '%s\\0' ${given(line)}; printf '\\n'`).join("\n");
  const { stdout } = await run("bash", ["-c", script], { env: { HOME: home } });
  const words = stdout.split("\n").map((line) => line.split("\0").slice(0, -1));
  return new Map(lines.map((line, i) => [line, words[i] ?? []]));
}

/** A store with what the examples name. Gives the real ids by those in the examples. */
async function createWorld(file: string): Promise<Record<string, string>> {
  await using memory = await open(file, { inThread: true });
  const id = "5f0c2a91";
  const metadata = { facts: { enabled: true } };
  const session = await memory.createSession({ id, agent: "coder", createdBy: "ana", metadata });
  const content = `acquireLock twice?${" It ran.".repeat(300)}`;
  const entry = await session.append({ role: "user", actor: "ana", content });
  await session.append({ role: "assistant", actor: "coder", content: "The lock is gone." });
  const rules = "Always run the tests first.\nI prefer short answers without lists.";
  await session.append({ role: "user", actor: "ana", content: rules });
  await memory.addRule({ text: "Never push on Fridays.", owner: "ana" });
  const [fact] = await session.addFacts([{ subject: "a", predicate: "favourite", object: "c" }]);
  await memory.putMemory({ agent: "coder", name: "deploy-steps", content: "Migrate first." });
  const { record } = await memory.createToken({ scope: "read" });
  const token = record.id;
  await memory.routes.put("agent:main:telegram:direct:4711", { sessionId: id });
  await memory.forTenant("acme").createSession({ agent: "coder", createdBy: "ana" });
  const said = { moment: "error", agent: "codex", session: "b", cwd: "/p", said: true } as const;
  const hit = { sessionId: id, shortId: id, index: 1 };
  const texts = { at: 0, text: "The lock is gone.", person: "The lock is gone.", signs: [] };
  const tenant = memory.forTenant("default");
  for (let i = 0; i < 17; i++) await note(tenant, { ...said, ...texts, hit });
  return { "01JZ8Q9D2M": entry.id, "01JZ8R0C5T": fact?.id ?? "", "01JZ8T3G6K": token };
}

/** The fenced blocks of a document that are marked with `language`. */
function blocks(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, mark]) => mark === language)
    .map(([, , body = ""]) => body);
}

function shell(script: string, home: string, env: Record<string, string> = {}): Promise<Ran> {
  mkdirSync(home, { recursive: true });
  const path = `${join(folder, "bin")}:${process.env["PATH"]}`;
  return run("bash", ["--norc", "-euo", "pipefail", "-c", script], {
    cwd: home,
    env: { HOME: home, PATH: path, ...env },
  });
}

/** With `src/cron.ts`, and a branch `feature` that changes it. */
function createRepository(folder: string): void {
  const run = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=Ana", "-c", "user.email=ana@shop.example", ...args], {
      cwd: folder,
      stdio: "ignore",
    });
  const cron = join(folder, "src/cron.ts");
  run("init", "-q", "-b", "main");
  for (const branch of ["main", "feature"]) {
    if (branch === "feature") run("checkout", "-q", "-b", branch);
    writeFileSync(cron, `// ${branch}\n`.repeat(30));
    run("add", "src/cron.ts");
    run("commit", "-q", "-m", branch);
  }
}
