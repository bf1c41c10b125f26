import { SOURCES } from "../../../ingest/sources.ts";
import type { Session } from "../../../model/session.ts";
import { sourceFieldsOf } from "../../../transcript/source-fields.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const resume: Command = defineCommand({
  name: "resume",
  summary: "Print the command that opens a session in its own agent again.",
  details: "Prints, and runs nothing. Exit code 1 if its agent has no such command.",
  arguments: [{ name: "SESSION", help: "The session's id." }],
  examples: ["resume 01JZ8Q4V7N"],
  run: (context, args) =>
    withStore(context, "read", async (tenant) => {
      const session = await tenant.getSessionMeta(args.SESSION);
      const { terminal } = context;
      const command = commandFor(session);
      const { projectPath: cwd = null, source = null } = session.origin;
      if (context.json) {
        await terminal.printJson({ session_id: session.id, source, cwd, command });
      } else if (command !== null) await terminal.print(command);
      if (command !== null) return EXIT.ok;
      if (!context.json) {
        const why = source === null ? "was written here" : `${source} has no command for that`;
        terminal.note(`session ${session.id}: ${why}`);
      }
      return EXIT.nothing;
    }),
});

function commandFor(session: Session): string | null {
  const { source, projectPath, key } = session.origin;
  const reader = SOURCES.find(({ name }) => name === source);
  // The key is workstation:project:session.
  const id = sourceFieldsOf(session)?.id ?? key?.split(":").slice(2).join(":");
  if (id === undefined || id === null || id === "") return null;
  return reader?.resumeCommand?.({ id, cwd: projectPath ?? null }) ?? null;
}
