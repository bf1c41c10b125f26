/**
 * What memory says unasked to a real client: an earlier conversation of another agent has the cure of
 * a command, a decision about a file, and the answer to a prompt.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./clients.ts";
import type { Installation } from "./installation.ts";
import type { MockModel } from "./mock-model.ts";

const FAILS = "git show --no-stat HEAD";
const CURE = "git show --no-patch HEAD";
const FILE = "invoice-exporter.ts";
const DECISION =
  "In invoice-exporter.ts we decided to keep one header per file, because shards must never write their own.";
const PROMPT = "Why does the nightly export of the invoice exporter write the header row twice?";
const ANSWER =
  "The invoice exporter writes the header row twice because open() runs once for each shard of the nightly export.";

/** Whether a failed command and a start were answered; the others depend on the client. */
export async function tryUnasked(
  client: Client,
  installation: Installation,
  model: MockModel,
): Promise<boolean> {
  const { project } = installation;
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: project });
  writeFileSync(join(project, FILE), "export const headers = 1;\n");
  git("init", "-q");
  git("add", FILE);
  git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "Begin");
  const folder = join(installation.setting.home, ".claude/projects/earlier");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${SESSION}.jsonl`), transcript(project));
  // A prompt is answered only where one of many sessions stands out.
  for (const [i, topic] of OTHERS.entries()) {
    const id = SESSION.replace("1111", String(2_000 + i));
    const text = linesOf(project, id, [
      ["user", `How does the ${topic} work?`],
      ["assistant", [{ type: "text", text: `The ${topic} reads its settings and starts.` }]],
    ]);
    writeFileSync(join(folder, `${id}.jsonl`), text);
  }
  await installation.backscroll(["ingest"]);
  await installation.backscroll(["unasked", "on"]);
  const before = model.requests.length;
  const env = { ...client.env(installation.setting), BACKSCROLL_UNATTENDED: "on" };
  const say = async (prompt: string) => {
    console.log(`\n> ${prompt}`);
    await installation.run(client.ask(prompt), env);
  };
  await say(PROMPT);
  // What is scripted below names the file, which a prompt would answer first.
  await installation.backscroll(["unasked", "off", "prompts"]);
  for (const { tool, input } of [client.shell(FAILS), client.read?.(join(project, FILE))].filter(
    (call) => call !== undefined,
  )) {
    await say(`CALL ${tool} ${JSON.stringify(input)} please`);
  }
  const seen = new Set(model.requests.slice(before).flatMap((body) => said(body)));
  for (const text of seen) {
    console.log(`\n--- what the model saw unasked: ${Buffer.byteLength(text)} bytes ---\n${text}`);
  }
  const log = JSON.parse(await installation.backscroll(["unasked", "log", "--json"])) as {
    readonly injections: readonly { readonly moment: string; readonly text: string }[];
  };
  const arrived = log.injections.filter(({ text }) => seen.has(text));
  const names = [...new Set(arrived.map(({ moment }) => moment))];
  console.log(`\nMemory spoke unasked, and the model saw it, at: ${names.join(", ") || "nothing"}`);
  console.log(await installation.backscroll(["unasked", "log"]));
  return ["start", "error"].every((moment) => names.includes(moment));
}

/** Our frames in all texts of a request. */
function said(value: unknown): string[] {
  if (typeof value === "string") {
    const text = value.replaceAll("&lt;", "<").replaceAll("&gt;", ">");
    return text.match(/<recalled-context from="backscroll"[\s\S]*?<\/recalled-context>/g) ?? [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(said);
}

const SESSION = "0b6a4c1e-1111-4222-8333-444455556666";
const DAY_MS = 24 * 3_600_000;

const OTHERS =
  "mail queue,login form,search index,price table,image cache,job runner,audit trail,rate limit,test runner,log viewer,date picker,tax module,stock sync,map layer,chat widget,feed parser,plan editor,team page,key store,form wizard".split(
    ",",
  );

function transcript(cwd: string): string {
  const use = (id: string, name: string, input: object) => [{ type: "tool_use", id, name, input }];
  const result = (id: string, content: string, is_error: boolean) => [
    { type: "tool_result", tool_use_id: id, content, is_error },
  ];
  const edit = { file_path: join(cwd, FILE), old_string: "headers = 2", new_string: "headers = 1" };
  return linesOf(cwd, SESSION, [
    ["user", PROMPT],
    ["assistant", [{ type: "text", text: ANSWER }]],
    ["user", "Mend it in invoice-exporter.ts, and show me the last commit without its files."],
    ["assistant", [{ type: "text", text: `${DECISION} I change headers in invoice-exporter.ts.` }]],
    ["assistant", use("t1", "Edit", edit)],
    ["user", result("t1", "The file has been updated.", false)],
    ["assistant", use("t2", "Bash", { command: FAILS })],
    ["user", result("t2", "Exit code 128\nfatal: unrecognized argument: --no-stat", true)],
    ["assistant", use("t3", "Bash", { command: CURE })],
    ["user", result("t3", "commit 1234567", false)],
    ["assistant", [{ type: "text", text: "Mended: shards no longer write a header." }]],
  ]);
}

type Said = readonly [role: "user" | "assistant", content: unknown];

/** Lines of Claude Code, five days old. */
function linesOf(cwd: string, session: string, texts: readonly Said[]): string {
  const id = (n: number) => `${session.slice(0, 23)}-${String(n).padStart(12, "0")}`;
  const lines = texts.map(([role, content], n) =>
    JSON.stringify({
      type: role,
      uuid: id(n),
      parentUuid: n === 0 ? null : id(n - 1),
      cwd,
      sessionId: session,
      version: "2.1.0",
      userType: "external",
      isSidechain: false,
      timestamp: new Date(Date.now() - 5 * DAY_MS + 1_000 * n).toISOString(),
      message: { role, content, ...(role === "assistant" ? { id: `m${n}`, model: "x" } : {}) },
    }),
  );
  return `${lines.join("\n")}\n`;
}
