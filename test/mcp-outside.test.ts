import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { open } from "../src/open.ts";
import { ROOT, run } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { startMcpHttp } from "./support/mcp-http.ts";
import { repeats } from "./support/repeats.ts";

/** Third-party checks of MCP servers: the public conformance suite, and the Inspector. */

const PACKAGES = join(ROOT, "node_modules/@modelcontextprotocol");
const CONFORMANCE = join(PACKAGES, "conformance/dist/index.js");
const INSPECTOR = join(PACKAGES, "inspector/clients/launcher/build/index.js");

/**
 * Scenarios that need the suite's own tools, resources or prompts on the server; docs/mcp.md has the
 * requirement of each.
 */
const OWN_FIXTURES = [
  "completion-complete",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-with-logging",
  "tools-call-error",
  "tools-call-with-progress",
  "tools-call-sampling",
  "tools-call-elicitation",
  "json-schema-2020-12",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
  "resources-subscribe",
  "resources-unsubscribe",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
];

describe("the conformance suite", () => {
  test("passes every scenario that needs no fixtures of its own", async () => {
    const folder = createFolder();
    await using memory = await open(":memory:");
    await memory.createSession({ agent: "coder", createdBy: "ana", title: "Cron" });
    const http = await startMcpHttp(memory, {
      loopback: {
        tenant: "default",
        scope: "write",
        actor: null,
        actAs: "any",
        operator: false,
        tokenId: null,
      },
    });
    const args = ["server", "--url", http.url.href, "--suite", "all"];
    const ran = await run(process.execPath, [CONFORMANCE, ...args], {
      cwd: folder,
      env: { HOME: folder },
    });
    await http.close();
    const outcomes = (mark: string) =>
      [...ran.stdout.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed/gm)]
        .filter(([, shown]) => shown === mark)
        .map(([, , name]) => name);
    expect(outcomes("✓")).toEqual([
      "server-initialize",
      "logging-set-level",
      "ping",
      "tools-list",
      "server-sse-polling",
      "server-sse-multiple-streams",
      "resources-list",
      "prompts-list",
      "dns-rebinding-protection",
    ]);
    // A skipped scenario that passes must be removed from the list.
    expect(outcomes("✗")).toEqual(OWN_FIXTURES);
    expect(http.errors).toEqual([]);
  });

  test("documents its skipped scenarios", () => {
    const text = readFileSync(join(ROOT, "docs/mcp.md"), "utf8");
    expect(OWN_FIXTURES.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

test("the Inspector lists every tool, and calls them", async () => {
  const folder = createFolder();
  const db = join(folder, "store.db");
  const memory = await open(db, { inThread: true });
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  for (let i = 0; i < 6; i++) {
    const content = `the cron lock ${i} ${"word ".repeat(400)}`;
    await session.append({ role: i % 2 === 0 ? "user" : "assistant", actor: "ana", content });
  }
  await memory.close();
  const built = process.env["BACKSCROLL_BUILT"] === undefined ? [] : ["-e", "BACKSCROLL_BUILT=1"];
  const inspect = async (method: string, tool: readonly string[] = []): Promise<unknown> => {
    const server = [
      process.execPath,
      join(ROOT, "bin/backscroll.js"),
      "mcp",
      "--all-tools",
      "--db",
      db,
      "--no-ingest",
    ];
    const ran = await run(
      process.execPath,
      [
        INSPECTOR,
        "--cli",
        "-e",
        `HOME=${folder}`,
        ...built,
        ...tool,
        "--method",
        method,
        ...server,
      ],
      { cwd: folder, env: { HOME: folder } },
    );
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    return JSON.parse(ran.stdout);
  };
  const id = `session_id=${session.id}`;
  const calls: Record<string, string[]> = {
    search_sessions: ["query=cron", "limit=3"],
    list_messages: [id],
    recap: [id],
    related: [id],
    trace: ["file=cron.ts"],
    list_sessions: ["limit=2"],
    get_session_meta: [id],
    recall: [id, "query=lock"],
    search_memory: ["query=steps"],
    remember: ["name=steps", "content=Migrate first."],
    build_context: [id, "token_budget=5000"],
    compact_conversation: [id, 'keep={"messages":2}'],
    append_message: [id, "role=user", "content=Thanks"],
  };
  const { tools } = (await inspect("tools/list")) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(calls));
  // Each call starts the Inspector and a server: `npm run stress` calls every tool.
  const left = Object.entries(calls).slice(0, repeats(1, tools.length));
  const answer = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, args] = next;
      const result = await inspect("tools/call", ["--tool-arg", ...args, "--tool-name", name]);
      expect(result, name).toMatchObject({ content: [{ type: "text" }] });
      expect(result).not.toHaveProperty("isError", true);
    }
  };
  await Promise.all([answer(), answer(), answer()]);
});
