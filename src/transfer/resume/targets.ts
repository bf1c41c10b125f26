/** The agents that can continue a session: their files and their commands. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { NativeFormat } from "../../export/native/carried.ts";
import { CLAUDE_CODE_NATIVE } from "../../export/native/claude-code.ts";
import { CODEX_NATIVE } from "../../export/native/codex.ts";
import { COPILOT_CLI_NATIVE } from "../../export/native/copilot-cli.ts";
import { geminiNative } from "../../export/native/gemini-cli.ts";
import { KIMI_CODE_NATIVE } from "../../export/native/kimi-code.ts";
import { OPENCODE_NATIVE } from "../../export/native/opencode.ts";
import { PI_NATIVE } from "../../export/native/pi.ts";
import { QWEN_CODE_NATIVE } from "../../export/native/qwen-code.ts";
import type { Environment } from "../../ingest/source.ts";
import { shellWord } from "../../model/display.ts";
import { BackscrollError } from "../../model/errors.ts";
import { RESUME_COMMANDS } from "../resume-command.ts";

export interface ResumeTarget {
  readonly name: string;
  readonly format: NativeFormat;
  /** The name of its reader, if it differs from the agent's. */
  readonly source?: string;
  /** Null if the agent has an import command instead. */
  file(place: TargetPlace): Promise<string | null>;
  /** A second file that the agent needs, without which the first is no session. */
  beside?(place: TargetPlace, title: string): { readonly path: string; readonly text: string };
  newId(now: number, random: Uint8Array): string;
  /** The command that continues the session. */
  resume(id: string, file: string): string;
  /** The command that begins a session with a file's text. */
  begin(file: string): string;
}

export interface TargetPlace {
  readonly environment: Environment;
  readonly cwd: string;
  readonly id: string;
  readonly now: number;
}

const CLAUDE_CODE: ResumeTarget = {
  name: "claude-code",
  format: CLAUDE_CODE_NATIVE,
  async file({ environment: { home, variables }, cwd, id }) {
    const root = variables["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
    return join(root, "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"), `${id}.jsonl`);
  },
  newId: (_, random) => uuid(random, 4),
  resume: RESUME_COMMANDS["claude-code"],
  begin: (file) => `claude "$(cat ${shellWord(file)})"`,
};

const CODEX: ResumeTarget = {
  name: "codex",
  format: CODEX_NATIVE,
  async file({ environment, id, now }) {
    const at = new Date(now).toISOString();
    const day = at.slice(0, 10).split("-");
    const name = `rollout-${at.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`;
    return join(codexHome(environment), "sessions", ...day, name);
  },
  newId: uuid7,
  resume: RESUME_COMMANDS.codex,
  begin: (file) => `codex "$(cat ${shellWord(file)})"`,
};

const PI: ResumeTarget = {
  name: "pi",
  format: PI_NATIVE,
  async file({ environment: { home, variables }, cwd, id, now }) {
    const root = variables["PI_CODING_AGENT_DIR"] || join(home, ".pi/agent");
    const folder = `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
    const time = new Date(now).toISOString().replace(/[:.]/g, "-");
    return join(root, "sessions", folder, `${time}_${id}.jsonl`);
  },
  newId: uuid7,
  resume: RESUME_COMMANDS.pi,
  begin: (file) => `pi "$(cat ${shellWord(file)})"`,
};

const OPENCODE: ResumeTarget = {
  name: "opencode",
  source: "opencode-export",
  format: OPENCODE_NATIVE,
  file: async () => null,
  newId: (now, random) => {
    // Descending ids: opencode sorts the newest first.
    const time = ~(BigInt(now) * 0x1000n) & 0xffffffffffffn;
    return `ses_${time.toString(16).padStart(12, "0")}${Buffer.from(random).toString("hex").slice(0, 14)}`;
  },
  resume: RESUME_COMMANDS.opencode,
  begin: (file) => `opencode --prompt "$(cat ${shellWord(file)})"`,
};

const GEMINI_CLI: ResumeTarget = {
  name: "gemini-cli",
  format: geminiNative(projectHash),
  async file({ environment: { home, variables }, cwd, id, now }) {
    const root = join(variables["GEMINI_CLI_HOME"] || home, ".gemini");
    const time = new Date(now).toISOString().slice(0, 16).replace(":", "-");
    const folder = (await geminiFolder(join(root, "projects.json"), cwd)) ?? projectHash(cwd);
    return join(root, "tmp", folder, "chats", `session-${time}-${id.slice(0, 8)}.jsonl`);
  },
  newId: (_, random) => uuid(random, 4),
  resume: RESUME_COMMANDS["gemini-cli"],
  begin: (file) => `gemini -i "$(cat ${shellWord(file)})"`,
};

const QWEN_CODE: ResumeTarget = {
  name: "qwen-code",
  format: QWEN_CODE_NATIVE,
  async file({ environment: { home, variables }, cwd, id }) {
    const root = variables["QWEN_HOME"] || join(home, ".qwen");
    const folder = cwd.replace(/[^A-Za-z0-9]/g, "-");
    return join(root, "projects", folder, "chats", `${id}.jsonl`);
  },
  newId: (_, random) => uuid(random, 4),
  resume: RESUME_COMMANDS["qwen-code"],
  begin: (file) => `qwen -i "$(cat ${shellWord(file)})"`,
};

const COPILOT_CLI: ResumeTarget = {
  name: "copilot-cli",
  format: COPILOT_CLI_NATIVE,
  async file({ environment: { home, variables }, id }) {
    const root = variables["COPILOT_HOME"] || join(home, ".copilot");
    return join(root, "session-state", id, "events.jsonl");
  },
  newId: (_, random) => uuid(random, 4),
  resume: RESUME_COMMANDS["copilot-cli"],
  begin: (file) => `copilot -i "$(cat ${shellWord(file)})"`,
};

const KIMI_CODE: ResumeTarget = {
  name: "kimi-code",
  format: KIMI_CODE_NATIVE,
  async file(place) {
    return join(kimiSession(place), "agents/main/wire.jsonl");
  },
  beside(place, title) {
    const { cwd, id, now } = place;
    const main = { homedir: join(kimiSession(place), "agents/main"), type: "main" };
    const state = {
      id: `session_${id}`,
      version: 2,
      cwd,
      createdAt: now,
      updatedAt: now,
      archived: false,
      agents: { main },
      custom: {},
      ...(title === "" ? {} : { title }),
      isCustomTitle: false,
    };
    return { path: join(kimiSession(place), "state.json"), text: JSON.stringify(state) };
  },
  newId: (_, random) => uuid(random, 4),
  resume: RESUME_COMMANDS["kimi-code"],
  begin: (file) => `kimi -p "$(cat ${shellWord(file)})"`,
};

/** The folder of the session, below one for each working folder. */
function kimiSession({ environment: { home, variables }, cwd, id }: TargetPlace): string {
  const root = variables["KIMI_CODE_HOME"] || join(home, ".kimi-code");
  const name = basename(cwd)
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "-");
  return join(root, "sessions", `wd_${name}_${projectHash(cwd).slice(0, 12)}`, `session_${id}`);
}

export const RESUME_TARGETS: readonly ResumeTarget[] = [
  CLAUDE_CODE,
  CODEX,
  PI,
  OPENCODE,
  GEMINI_CLI,
  QWEN_CODE,
  COPILOT_CLI,
  KIMI_CODE,
];

export function findTarget(name: string): ResumeTarget {
  const found = RESUME_TARGETS.find((target) => target.name === name);
  if (found !== undefined) return found;
  const names = RESUME_TARGETS.map((target) => target.name).join(", ");
  const message = `no session can be continued in ${JSON.stringify(name)}; known are ${names}`;
  throw new BackscrollError("invalid_input", message, { details: { field: "--in" } });
}

export function codexHome({ home, variables }: Environment): string {
  return variables["CODEX_HOME"] || join(home, ".codex");
}

/** The folder of a project known to Gemini CLI. */
async function geminiFolder(register: string, cwd: string): Promise<string | undefined> {
  try {
    const { projects } = JSON.parse(await readFile(register, "utf8")) as {
      readonly projects?: Readonly<Record<string, unknown>>;
    };
    const folder = projects?.[cwd];
    return typeof folder === "string" && /^[\w.-]+$/.test(folder) ? folder : undefined;
  } catch {
    // Never started, or a version without a register.
    return undefined;
  }
}

function projectHash(cwd: string): string {
  return createHash("sha256").update(cwd).digest("hex");
}

function uuid7(now: number, random: Uint8Array): string {
  const bytes = Uint8Array.from(random);
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) % 256;
  return uuid(bytes, 7);
}

/** A UUID from 16 random bytes. */
function uuid(random: Uint8Array, version: number): string {
  const bytes = Uint8Array.from(random);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
