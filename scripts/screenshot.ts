/**
 * Takes README's screenshot of the page, with made-up sessions:
 *
 *     node scripts/screenshot.ts
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { type Engine, open } from "../src/index.ts";
import { openServer } from "../src/server/serve.ts";
import { findBrowser } from "./test-browser.js";

const PICTURE = join(import.meta.dirname, "../docs/images/page.png");
const SIZE = { width: 1440, height: 640 };

const TALKS: readonly (readonly [agent: string, project: string, ...said: string[]])[] = [
  [
    "codex",
    "/src/shop",
    "Slow checkout",
    "The checkout takes four seconds. Why?",
    "Each item asks for its tax anew.",
  ],
  [
    "claude-code",
    "/src/shop",
    "Checkout tax",
    "The tax is rounded twice.",
    "I round once, at the end, in `tax()`.",
  ],
  [
    "gemini-cli",
    "/src/site",
    "Dark mode",
    "The header stays white in dark mode.",
    "Its colour was fixed; it follows the theme now.",
  ],
  [
    "claude-code",
    "/src/shop",
    "Move to PostgreSQL",
    "Which tables are locked by the migration?",
    "None for longer than 20 ms: the lock is taken in batches.",
  ],
  [
    "claude-code",
    "/src/jobs",
    "Cron job runs twice",
    "Why does the cron job run twice on Mondays?",
    "Two nodes start it, and the lock is gone: `acquireLock()` no longer waits.",
  ],
];

const USAGE = {
  inputTokens: 2_000,
  outputTokens: 6_000,
  cacheCreationTokens: 41_000,
  cacheReadTokens: 700_000,
};

/** What an agent does between a question and its answer. */
const CALLS: readonly (readonly [
  name: string,
  input: Readonly<Record<string, string>>,
  output: string,
  isError: boolean,
])[] = [
  ["Read", { file_path: "/src/jobs/lock.ts" }, "export async function acquireLock() {", false],
  ["Grep", { pattern: "acquireLock", path: "/src/jobs" }, "cron.ts:12", false],
  ["Bash", { command: "npm test" }, "1 failed: two nodes ran the job at 02:00", true],
  [
    "Edit",
    {
      file_path: "/src/jobs/lock.ts",
      old_string: "  return tryLock(name);",
      new_string: "  await lockFree(name);\n  return tryLock(name);",
    },
    "done",
    false,
  ],
  [
    "Bash",
    { command: 'npm test && git commit -am "Wait for the lock"' },
    "[main 4be1c20] Wait for the lock",
    false,
  ],
];

/** Serves the sessions, searches them, opens the first hit, and takes the screenshot. */
export async function takePicture(page: Page, file: string): Promise<void> {
  const engine = await open(":memory:");
  const server = await openServer(engine, { version: "0.1.0", port: 0 });
  try {
    await fill(engine);
    await page.setViewportSize(SIZE);
    await page.goto(server.url);
    await page.locator("#query").fill("cron lock");
    await page.locator('[data-answers="cron lock"] mark').first().waitFor();
    await page.getByRole("button", { name: "Project" }).waitFor();
    // The origins of the sessions come after the hits.
    await page.locator(".hit .about").filter({ hasText: "shop · main" }).first().waitFor();
    await page.locator(".hit").first().click();
    await page.getByText("1 read, 1 edit").waitFor();
    await page.locator(".outcome, .gist dd").first().waitFor();
    await page.screenshot({ path: file });
  } finally {
    await server.stop(0);
    await engine.close();
  }
}

async function fill(engine: Engine): Promise<void> {
  for (const [agent, projectPath, title = "", question = "", answer = ""] of TALKS) {
    const session = await engine.createSession({
      agent,
      title,
      createdBy: "ana",
      origin: { projectPath, gitBranch: "main", source: agent },
    });
    await session.append([
      { role: "user", actor: "ana", content: question },
      ...(projectPath === "/src/jobs" ? CALLS : []).flatMap(
        ([name, input, output, isError], at) => [
          {
            role: "assistant" as const,
            actor: agent,
            content: [{ type: "tool_use" as const, id: `${at}`, name, input }],
          },
          {
            role: "tool" as const,
            content: [{ type: "tool_result" as const, toolUseId: `${at}`, output, isError }],
          },
        ],
      ),
      { role: "assistant", actor: agent, content: answer, model: "claude-opus-4.8", usage: USAGE },
    ]);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = findBrowser();
  if (found === undefined) throw new Error("there is no Chromium; name one with CHROMIUM_PATH");
  const browser = await chromium.launch({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    chromiumSandbox: process.getuid?.() !== 0,
  });
  await takePicture(await browser.newPage({ deviceScaleFactor: 2 }), PICTURE);
  await browser.close();
}
