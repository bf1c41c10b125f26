import { maskJson } from "../../../api/mask.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import type { JsonValue } from "../../../model/json.ts";
import { MAX_HITS } from "../../../model/limits.ts";
import { showTraced, traceNotes } from "../../../recap/show-trace.ts";
import {
  DEFAULT_TRACED_SESSIONS,
  type Trace,
  type TraceInput,
  traceWork,
} from "../../../recap/trace.ts";
import { toWireTrace } from "../../../recap/wire/wire-trace.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatCount } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";
import { printParts, toWorkInput, workOptions } from "./work-options.ts";

export const trace: Command = defineCommand({
  name: "trace",
  summary: "List the sessions that touched a file, ran a command or met an error.",
  details:
    "Takes one of --file, --command and --error. For an error or a failure it also shows the fix: the next success of the same command, with the changes before it. It reads the tool calls of every session that has the text, so a session that only mentions a file does not count, and none is missed: it says how many more have it, and how many it has not read. An error counts where a tool failed with it, a command printed it, or the user reported it. Text is found as whole words, and within words if no session has it so. #12 is a message's number. Secrets are masked. Exits with 1 if none match.",
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
      const found = await trackedTrace(tenant, input);
      const { sessions } = found;
      const code = sessions.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWireTrace(found) as unknown as JsonValue));
        return code;
      }
      await printParts(
        terminal,
        sessions.map((each) => showTraced(each, Date.now())),
      );
      for (const note of traceNotes(found, WORDS)) {
        if (sessions.length === 0) await terminal.print(note);
        else terminal.note(note);
      }
      return code;
    });
  },
});

const WORDS = {
  search: "search",
  limit: `--limit shows up to ${MAX_HITS}`,
  narrow: "--since, --project or --agent",
};

async function trackedTrace(tenant: TenantApi, input: TraceInput): Promise<Trace> {
  const progress = new Progress();
  try {
    return await traceWork(tenant, input, {
      onProgress: (read, total) =>
        progress.show(() => `${formatCount(read)} of ${formatCount(total)} sessions read`),
    });
  } finally {
    progress.end();
  }
}
