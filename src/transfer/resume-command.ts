/** The command with which an agent continues its own session. */

import type { RESUME_COMMAND } from "../model/answers/context.ts";
import { shellWord } from "../model/display.ts";
import type { Session } from "../model/session.ts";
import type { FieldsOf } from "../model/shape.ts";
import { ownIdOf } from "../store/session-ref.ts";

type Resumable =
  | "claude-code"
  | "codex"
  | "pi"
  | "opencode"
  | "gemini-cli"
  | "qwen-code"
  | "copilot-cli"
  | "kimi-code";

/** Maps the agent's id of a session, and its file, to the command; by the session's source. */
export const RESUME_COMMANDS: Readonly<Record<Resumable, (id: string, file: string) => string>> = {
  "claude-code": (id) => `claude --resume ${shellWord(id)}`,
  codex: (id) => `codex resume ${shellWord(id)}`,
  pi: (_, file) => `pi --session ${shellWord(file)}`,
  opencode: (id) => `opencode --session ${shellWord(id)}`,
  "gemini-cli": (id) => `gemini --resume ${shellWord(id)}`,
  "qwen-code": (id) => `qwen --resume ${shellWord(id)}`,
  // Its folders are named so; readers leave the prefix out.
  "kimi-code": (id) => `kimi --session ${shellWord(`session_${id}`)}`,
  "copilot-cli": (id) => `copilot --resume=${shellWord(id)}`,
};

export interface ResumeCommand extends FieldsOf<typeof RESUME_COMMAND> {}

export function resumeCommand({ origin }: Session): ResumeCommand {
  const { source = "", file = "", projectPath, workstation } = origin;
  const id = ownIdOf(origin);
  const make = Object.hasOwn(RESUME_COMMANDS, source)
    ? RESUME_COMMANDS[source as Resumable]
    : undefined;
  // A sub-agent's session is part of another: agents cannot continue it alone.
  const isOwn = id !== null && /^\w[\w.-]*$/.test(id) && (source !== "pi" || file !== "");
  return {
    command: make !== undefined && isOwn ? make(id, file) : null,
    folder: projectPath ?? null,
    workstation: workstation ?? null,
  };
}
