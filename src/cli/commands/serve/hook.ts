import { existsSync } from "node:fs";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import type { Environment } from "../../../ingest/source.ts";
import type { JsonObject } from "../../../model/json.ts";
import { isSwitchedOff, readVariable } from "../../../model/variables.ts";
import { requireAllowed } from "../../../policy.ts";
import { type Command, defineCommand } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { HOOK_AGENTS, type HookAgent } from "../../hook/output.ts";
import { takenInput } from "../../pipe/hook.ts";
import { storeOptions } from "../../setup/own-command.ts";
import { withStore } from "../../store.ts";
import { readText, toChoice } from "../../values.ts";

/**
 * The time limit of storing while the client waits: about a second with the start of the process.
 */
const DEADLINE_MS = 800;

export const hook: Command = defineCommand({
  name: "hook",
  summary: "Answer a hook of an agent; setup adds the calls.",
  details:
    "Reads the hook's JSON from standard input. When a command failed, a file was read, a prompt was submitted or a session starts, it prints what memory says unasked, in the agent's form, or nothing: the hub answers within 150 ms, or it is silent. Of Claude Code it also answers SessionStart after a compaction with a hand-over of requests, decisions, changes and commands from the last 4 MiB of the transcript (at most 4 KiB), and stores the transcript's new lines at PreCompact and SessionEnd; that has a deadline (BACKSCROLL_HOOK_DEADLINE_MS, 800 if left out), after which a detached process continues. It always exits with 0, does nothing in a folder that a rule ignores or in a run without a person (CI; BACKSCROLL_UNATTENDED=on overrides), and with BACKSCROLL=off makes the session incognito; errors are a line on standard error. unasked log shows what was said.",
  arguments: [{ name: "AGENT", help: `${HOOK_AGENTS.join(", ")}.` }],
  examples: ["hook claude-code < /dev/null"],
  run: async (context, args) => {
    const agent = toChoice(args.AGENT, HOOK_AGENTS, "AGENT");
    try {
      if (agent !== undefined) await answer(context, agent);
    } catch (error) {
      context.terminal.note(`backscroll: ${(error as Error).message}`);
    }
  },
});

async function answer(context: Context, agent: HookAgent): Promise<void> {
  const text = takenInput() ?? (await readText("-", context.terminal));
  // No event: run by hand.
  if (text.trim() === "") return;
  requireAllowed("hooks");
  const claude = await import("../../hook/claude-hook.ts");
  const input = claude.readHookInput(text);
  const machine = thisMachine();
  const { transcript, sessionId } = input;
  if (isSwitchedOff("BACKSCROLL", machine.variables)) {
    const { keepNothing } = await import("../../../mcp/own-session.ts");
    if (sessionId === "") return;
    await withStore(context, "create", (tenant) => keepNothing(tenant, [sessionId]));
    return;
  }
  const need = agent === "claude-code" ? claude.needsOf(input) : undefined;
  if (need === undefined) return answerMoment(context, agent, text, machine);
  if (await claude.isIgnored(input, machine)) return;
  const handover = need === "handover" ? await import("../../hook/handover-text.ts") : undefined;
  const handed = await handover?.transcriptHandover(transcript, sessionId);
  // Answers before storing: ingesting takes time in proportion to the transcript.
  if (handed !== undefined) await context.terminal.write(claude.hookOutput(handed));
  const told = readVariable("BACKSCROLL_HOOK_DEADLINE_MS", machine.variables);
  const deadline = told === undefined ? DEADLINE_MS : Number(told);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), deadline);
  });
  const work = withStore(context, "create", async (tenant) => {
    if (handed !== undefined && (await claude.isLong(tenant, transcript, machine))) return "long";
    await claude.readTranscript(tenant, transcript, machine);
    return handed === undefined ? handover?.storedHandover(tenant, sessionId) : undefined;
  });
  const answered = await Promise.race([work, late]);
  clearTimeout(timer);
  if (answered !== "late" && answered !== "long") {
    if (answered !== undefined) await context.terminal.write(claude.hookOutput(answered));
    return;
  }
  if (transcript !== "") {
    claude.readLater(["ingest", transcript, ...storeOptions(context, machine)]);
  }
  if (answered === "long") return;
  context.terminal.note(`backscroll: ${input.event} took too long, and goes on by itself`);
  // Work in progress would keep the process, and the agent, waiting.
  process.exit(EXIT.ok);
}

/** Without a hub: in this process, with a store of its own. */
async function answerMoment(
  context: Context,
  agent: HookAgent,
  text: string,
  machine: Environment,
): Promise<void> {
  const { readHookCall } = await import("../../hook/payload.ts");
  const payload = JSON.parse(text) as JsonObject;
  const { address } = context;
  const call = readHookCall(agent, payload);
  if (call === undefined || isServer(address) || !existsSync(address)) return;
  const { answerHook } = await import("../../hook/answer.ts");
  const question = { agent, payload, cwd: process.cwd(), variables: machine.variables };
  const said = await withStore(context, "write", (tenant) => answerHook(tenant, question, machine));
  await context.terminal.write(said);
}
