import { thisMachine } from "../../../ingest/identity/identity.ts";
import { isSwitchedOff, readVariable } from "../../../model/variables.ts";
import { requireAllowed } from "../../../policy.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { storeOptions } from "../../setup/own-command.ts";
import { withStore } from "../../store.ts";
import { readText, toChoice } from "../../values.ts";

/**
 * The time limit of storing while the client waits: about a second with the start of the process.
 */
const DEADLINE_MS = 800;

const AGENTS = ["claude-code"] as const;

export const hook: Command = defineCommand({
  name: "hook",
  summary: "Answer a hook of an agent; setup --hooks adds the calls.",
  details:
    "Reads the hook's JSON from standard input. SessionStart prints a line on the amount of memory (startup, clear), a hand-over of requests, decisions, changes and commands (compact, at most 4 KiB), or nothing (resume). PreCompact and SessionEnd store the transcript's new lines. The hand-over comes from the last 4 MiB of the transcript. Storing has a deadline (BACKSCROLL_HOOK_DEADLINE_MS, 800 if left out), after which a detached process continues. It always exits with 0, does nothing in a folder that a rule ignores, and with BACKSCROLL=off makes the session incognito; errors are a line on standard error.",
  arguments: [{ name: "AGENT", help: `${AGENTS.join(", ")}.` }],
  examples: ["hook claude-code < /dev/null"],
  run: async (context, args) => {
    toChoice(args.AGENT, AGENTS, "AGENT");
    try {
      await answer(context);
    } catch (error) {
      context.terminal.note(`backscroll: ${(error as Error).message}`);
    }
  },
});

async function answer(context: Context): Promise<void> {
  const text = await readText("-", context.terminal);
  // No event: run by hand.
  if (text.trim() === "") return;
  requireAllowed("hooks");
  const claude = await import("../../hook/claude-hook.ts");
  const input = claude.readHookInput(text);
  const need = claude.needsOf(input);
  if (need === undefined) return;
  const machine = thisMachine();
  const { transcript, sessionId } = input;
  if (isSwitchedOff("BACKSCROLL", machine.variables)) {
    const { keepNothing } = await import("../../../mcp/own-session.ts");
    if (sessionId === "") return;
    await withStore(context, "create", (tenant) => keepNothing(tenant, [sessionId]));
    return;
  }
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
  const work = withStore(context, need === "count" ? "read" : "create", async (tenant) => {
    if (need === "count") return claude.memoryLine(tenant, input, Date.now());
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
  if (need !== "count" && transcript !== "") {
    claude.readLater(["ingest", transcript, ...storeOptions(context, machine)]);
  }
  if (answered === "long") return;
  context.terminal.note(`backscroll: ${input.event} took too long, and goes on by itself`);
  // Work in progress would keep the process, and the agent, waiting.
  process.exit(EXIT.ok);
}
