import { maskJson } from "../../../api/mask.ts";
import type { JsonValue } from "../../../model/json.ts";
import { showTraced } from "../../../recap/show-trace.ts";
import { DEFAULT_TRACED_SESSIONS, traceWork } from "../../../recap/trace.ts";
import { toWireTrace } from "../../../recap/wire/wire-trace.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";
import { printParts, toWorkInput, workOptions } from "./work-options.ts";

export const trace: Command = defineCommand({
  name: "trace",
  summary: "List the sessions that touched a file, ran a command or met an error.",
  details:
    "Takes one of --file, --command and --error. For an error or a failure it also shows the fix: the next success of the same command, with the changes before it. It searches for sessions and reads their tool calls, so a session that only mentions a file does not count. #12 is a message's number. Secrets are masked. Exits with 1 if none match.",
  options: {
    file: { type: "string", value: "PATH", help: "A path, or the end of one." },
    command: { type: "string", value: "TEXT", help: "A command, or part of one." },
    error: { type: "string", value: "TEXT", help: "The text of an error, or part of it." },
    exclude: { type: "string", value: "ID", help: "Leave this session out." },
    ...workOptions(DEFAULT_TRACED_SESSIONS),
  },
  examples: ["trace --file src/cron.ts", "trace --error 'database is locked' --since 30d"],
  run: (context, _args, options) => {
    const { file, command, error } = options;
    if ([file, command, error].filter((each) => each !== undefined).length !== 1) {
      throw usageError("trace takes one of --file, --command and --error", "--file");
    }
    const input = {
      ...toWorkInput(options),
      ...given({ file, command, error, excludeSession: options.exclude }),
    };
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const found = await traceWork(tenant, input);
      const { subject, sessions, unread } = found;
      const code = sessions.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWireTrace(found) as unknown as JsonValue));
        return code;
      }
      if (sessions.length === 0) {
        await terminal.print(
          `No session has this ${subject.kind}. Try a shorter part of it; search also finds mentions.`,
        );
      }
      await printParts(
        terminal,
        sessions.map((each) => showTraced(each, Date.now())),
      );
      if (unread > 0) terminal.note("Older sessions may have it, too: --limit.");
      return code;
    });
  },
});
