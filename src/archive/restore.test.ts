import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { SOURCES } from "../ingest/sources.ts";
import { open } from "../open.ts";
import { restoreSession } from "./restore.ts";

const BYTES = Buffer.from('{"kept":true}\n');

interface Kept {
  readonly path: string;
  readonly source: string;
  /** Default: the restored session's. */
  readonly isOther?: boolean;
}

/** Restores the session of files that were kept of a colleague's machine, into a home of its own. */
async function restoreKept(kept: readonly Kept[], prepare?: (home: string) => void) {
  const home = createFolder();
  prepare?.(home);
  await using engine = await open(":memory:");
  const [session, other] = [await engine.createSession(), await engine.createSession()];
  const size = BYTES.length;
  const parts = [{ start: 0, size, bytes: zstdCompressSync(BYTES) }];
  for (const { path, source, isOther = false } of kept) {
    const facts = { path, source, reader: 1, mtimeUs: 1, size, from: 0, parts };
    const sessionIds = [(isOther ? other : session).id];
    await engine.originals.put("w2", { ...facts, sessionIds });
  }
  const environment = { home, variables: {}, platform: "linux" };
  const files = await restoreSession(engine, session, { environment });
  return { home, files, outcome: files.map((file) => file.outcome).join() };
}

const CODE = ".config/Code/User";
const LOGS = ".gemini/antigravity-cli/brain/c1/.system_generated/logs";

/** What readers read beside transcripts, by the home that it lies in. */
const PARTS: readonly (readonly [source: string, path: string])[] = [
  ["claude-code", ".claude/projects/-srv/s1/tool-results/toolu_1.txt"],
  ["claude-code", ".claude/projects/-srv/s1/tool-results/b1.json"],
  ["claude-code", ".claude/projects/-srv/s1/subagents/agent-7.meta.json"],
  ["claude-code", ".claude/projects/-srv/s1/subagents/w/r/agent-7.meta.json"],
  ["claude-code", ".claude/projects/-srv/agent-7.meta.json"],
  ["copilot-cli", ".copilot/session-state/s1/workspace.yaml"],
  ["opencode-files", ".local/share/opencode/storage/message/ses_1/msg_1.json"],
  ["opencode-files", ".local/share/opencode/storage/part/msg_1/prt_1.json"],
  ["cline", `${CODE}/globalStorage/saoudrizwan.claude-dev/tasks/1/ui_messages.json`],
  ["cline", ".cline/data/sessions/1/task_metadata.json"],
  ["roo-code", `${CODE}/globalStorage/rooveterinaryinc.roo-cline/tasks/1/history_item.json`],
  ["kilo-code", ".kilocode/cli/global/tasks/1/ui_messages.json"],
  ["crabtalk", ".crabtalk/sessions/s1/step-000001"],
  ["kimi-code", ".kimi-code/sessions/wd_a/session_1/state.json"],
  ["copilot-chat", `${CODE}/workspaceStorage/h1/workspace.json`],
  ["openhands", ".openhands/conversations/c1/events/event-00001-a.json"],
  ["openhands", ".openhands/sessions/c1/events/12.json"],
  ["openhands", ".openhands/sessions/c1/metadata.json"],
  ["continue", ".continue/sessions/sessions.json"],
  ["antigravity", `${LOGS}/transcript.jsonl`],
  ["antigravity", `${LOGS}/overview.txt`],
  ["antigravity-ide", `${LOGS.replace("-cli", "")}/overview.txt`],
  ["grok-build", ".grok/sessions/-srv/s1/summary.json"],
  ["grok-build", ".grok/sessions/-srv/s1/compaction_checkpoints/k1.json"],
  ["kiro", ".kiro/sessions/cli/s1.json"],
  ["vibe", ".vibe/logs/session/s1/meta.json"],
];

describe("a part of a transcript", () => {
  test.each(PARTS)("of %s goes home: %s", async (source, path) => {
    for (const there of [`/home/ana/${path}`, `C:\\Users\\ana\\${path.replaceAll("/", "\\")}`]) {
      const { home, outcome } = await restoreKept([{ source: `${source}:part`, path: there }]);
      expect(outcome).toBe("written");
      expect(readFileSync(join(home, path))).toEqual(BYTES);
    }
  });

  test.each([
    // Settings and commands of agents and editors.
    ["antigravity", "/home/ana/.gemini/settings.json"],
    ["antigravity", "/home/ana/.gemini/antigravity-cli/mcp_config.json"],
    ["copilot-chat", "/home/ana/.config/Code/User/tasks.json"],
    ["copilot-chat", "/home/ana/.config/Code/User/settings.json"],
    ["copilot-chat", "/home/ana/.config/Code/User/workspaceStorage/h1/state.vscdb"],
    ["kimi", "/home/ana/.kimi/mcp.json"],
    ["kimi", "C:\\Users\\ana\\.kimi\\mcp.json"],
    ["kimi-code", "/home/ana/.kimi-code/sessions/wd_a/session_1/mcp.json"],
    ["cline", "/home/ana/.cline/data/settings/cline_mcp_settings.json"],
    ["claude-code", "/home/ana/.claude/projects/-srv/.mcp.json"],
    ["claude-code", "/home/ana/.claude/projects/-srv/memory/MEMORY.md"],
    ["claude-code", "/home/ana/.claude/projects/-srv/s1/tool-results/.envrc"],
    ["claude-code", "/home/ana/.claude/projects/-srv/s1/tool-results/.x.json"],
    ["claude-code", "/home/ana/.claude/projects/-srv/s1/tool-results/run.sh"],
    // Read beside transcripts, but they grant rights to sessions, or name the machine's folders.
    ["droid", "/home/ana/.factory/sessions/-srv/s1.settings.json"],
    ["openclaw", "/home/ana/.openclaw/agents/main/sessions/sessions.json"],
    ["gemini-cli", "/home/ana/.gemini/tmp/shop/.project_root"],
    // Elsewhere.
    ["claude-code", "/home/ana/.claude/projects/-srv/../../agent-7.meta.json"],
    ["claude-code", "/home/ana/.claude/projects/s1/tool-results/../../../settings.json"],
    ["vibe", "C:\\Users\\ana\\.vibe\\logs\\session\\..\\meta.json"],
    ["claude-code", "/etc/s1/tool-results/a.txt"],
    ["vibe", "/etc/meta.json"],
    ["nobody", "/home/ana/.claude/projects/-srv/s1/tool-results/a.txt"],
  ])("of %s is not restored as %s", async (source, path) => {
    const { home, outcome } = await restoreKept([{ source: `${source}:part`, path }]);
    expect([outcome, readdirSync(home)]).toEqual(["no_place", []]);
  });

  test("is what a place says it is, for every source that has parts", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    const having = SOURCES.filter((source) =>
      source.places?.(environment).some(({ matchesPart }) => matchesPart !== undefined),
    ).map(({ name }) => name);
    const known = PARTS.map(([source]) => source).filter((name) => !/^antigravity/.test(name));
    expect([...new Set(known)]).toEqual(having);
  });
});

test("an empty file that is there stays", async () => {
  const path = ".claude/projects/-srv/s1.jsonl";
  const put = (home: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), "");
  };
  const kept = { source: "claude-code", path: `/home/ana/${path}` };
  const { home, outcome } = await restoreKept([kept], put);
  expect([outcome, readFileSync(join(home, path), "utf8")]).toEqual(["differs", ""]);
});

test.each([
  ["/home/ana", "/"],
  ["C:\\Users\\ana", "\\"],
  ["C:/Users/ana", "/"],
  ["/home/a\\na", "/"],
])("sub-agents below %s come with their transcript", async (home, separator) => {
  const names = ["s1.jsonl", "s1/subagents/agent-7.jsonl", "s10/subagents/agent-8.jsonl"];
  const restored = await restoreKept(
    names.map((name, at) => ({
      path: [home, ...`.claude/projects/-srv/${name}`.split("/")].join(separator),
      source: "claude-code",
      isOther: at > 0,
    })),
  );
  const below = join(restored.home, ".claude/projects/-srv");
  expect(restored.files.map(({ path }) => relative(below, path))).toEqual(names.slice(0, 2));
  expect(restored.outcome).toBe("written,written");
});
