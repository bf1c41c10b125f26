import { SOURCES } from "../../../ingest/sources.ts";
import type { Session } from "../../../model/session.ts";
import { sourceFieldsOf } from "../../../transcript/source-fields.ts";
import { RESUME_TARGETS } from "../../../transfer/resume/targets.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { resumeElsewhere } from "../../resume/resume-elsewhere.ts";
import { withStore } from "../../store.ts";

const ONLY_ELSEWHERE = [
  "native",
  "budget",
  "print",
  "dry-run",
  "full",
  "raw",
  "cwd",
  "leaf",
] as const;

export const resume: Command = defineCommand({
  name: "resume",
  summary: "Print the command that continues a session, in its own agent or another.",
  details:
    "Prints, and runs nothing. Without --in: exit code 1 if its agent has no such command. With --in: writes a briefing under a token budget (digest and context, secrets masked) that a new session there begins with; with --native, copies the session itself into the other agent's own files, verbatim and unmasked, and reads it back. Losses are counted on standard error.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    in: {
      type: "string",
      value: "AGENT",
      help: `Continue there: ${RESUME_TARGETS.map(({ name }) => name).join(", ")}.`,
    },
    native: { type: "boolean", help: "Copy the session, instead of briefing a new one." },
    budget: {
      type: "string",
      value: "N",
      help: "Tokens that a briefing may take, 256 to 30000; 8000 if left out.",
    },
    print: { type: "boolean", help: "Print the briefing, and write nothing." },
    "dry-run": { type: "boolean", help: "Say what would be written, and write nothing." },
    full: {
      type: "boolean",
      help: "With --native: all messages, including summarised ones.",
    },
    raw: { type: "boolean", help: "Keep secrets in a briefing as they were written." },
    cwd: {
      type: "string",
      value: "FOLDER",
      help: "The folder to continue in; the session's own if left out.",
    },
    leaf: { type: "string", value: "ENTRY", help: "The path to this entry, not the active one." },
  },
  examples: [
    "resume 5f0c2a91",
    "resume 5f0c2a91 --in codex",
    "resume 5f0c2a91 --in claude-code --native",
  ],
  run: (context, args, options) => {
    const { in: agent, ...rest } = options;
    if (agent !== undefined) return resumeElsewhere(context, args.SESSION, { in: agent, ...rest });
    for (const name of ONLY_ELSEWHERE) {
      if (rest[name] !== undefined) throw usageError(`--${name} needs --in AGENT`, `--${name}`);
    }
    return resumeHere(context, args.SESSION);
  },
});

function resumeHere(context: Context, sessionId: string): Promise<number> {
  return withStore(context, "read", async (tenant) => {
    const session = await tenant.getSessionMeta(sessionId);
    const { terminal } = context;
    const command = resumeCommand(session);
    const { projectPath: cwd = null, source = null } = session.origin;
    if (context.json) {
      await terminal.printJson({ session_id: session.id, source, cwd, command });
    } else if (command !== null) await terminal.print(command);
    if (command !== null) return EXIT.ok;
    if (!context.json) {
      const why = source === null ? "was written here" : `${source} has no command for that`;
      terminal.note(`session ${session.id}: ${why}; --in AGENT continues it elsewhere`);
    }
    return EXIT.nothing;
  });
}

/** Null if the session was not ingested, or its agent has no such command. */
function resumeCommand(session: Session): string | null {
  const { source, projectPath, key } = session.origin;
  const reader = SOURCES.find(({ name }) => name === source);
  // The key is workstation:project:session.
  const id = sourceFieldsOf(session)?.id ?? key?.split(":").slice(2).join(":");
  if (id === undefined || id === "") return null;
  return reader?.resumeCommand?.({ id, cwd: projectPath ?? null }) ?? null;
}
