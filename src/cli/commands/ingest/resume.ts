import { resumeCommand } from "../../../archive/resume-command.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const resume: Command = defineCommand({
  name: "resume",
  summary: "Print the command that opens a session in its own agent again.",
  details: "Prints, and runs nothing. Exit code 1 if its agent has no such command.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  examples: ["resume 5f0c2a91"],
  run: (context, args) =>
    withStore(context, "read", async (tenant) => {
      const session = await tenant.getSessionMeta(args.SESSION);
      const { terminal } = context;
      const command = resumeCommand(session);
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
