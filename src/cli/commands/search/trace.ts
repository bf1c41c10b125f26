import { maskJson } from "../../../api/mask.ts";
import type { JsonValue } from "../../../model/json.ts";
import { MAX_HITS } from "../../../model/limits.ts";
import { showTraced } from "../../../recap/show-trace.ts";
import { DEFAULT_TRACED_SESSIONS, traceWork } from "../../../recap/trace.ts";
import { toWireTrace } from "../../../recap/wire/wire-trace.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";
import { given, toCount, toPeriod, toRepo } from "../../values.ts";
import { PROJECT, REPO } from "../project-options.ts";

export const trace: Command = defineCommand({
  name: "trace",
  summary: "Tell which sessions touched a file, ran a command or met an error.",
  details:
    "Takes one of --file, --command and --error, and tells what cleared an error or a failure: the next success of the same, with the changes before it. Sessions are found by searching, and their tool calls are read: one that only mentions a file has not touched it. #12 is the number of a message. Secrets are masked. Exits with 1 if there is none.",
  options: {
    file: { type: "string", value: "PATH", help: "A path, or the end of one." },
    command: { type: "string", value: "TEXT", help: "A command, or part of one." },
    error: { type: "string", value: "TEXT", help: "What an error says, or part of it." },
    since: { type: "string", value: "TIME", help: "From then on: yesterday, 7d, 2026-05-04." },
    until: { type: "string", value: "TIME", help: "Up to then; a day counts whole." },
    project: PROJECT,
    repo: REPO,
    agent: { type: "string", value: "NAME", help: "Only this agent's sessions." },
    workstation: { type: "string", value: "ID", help: "Only sessions of this workstation." },
    exclude: { type: "string", value: "ID", help: "Leave this session out." },
    limit: {
      type: "string",
      value: "N",
      help: `Sessions, the newest: at most ${MAX_HITS}, ${DEFAULT_TRACED_SESSIONS} if left out.`,
    },
  },
  examples: ["trace --file src/cron.ts", "trace --error 'database is locked' --since 30d"],
  run: (context, _args, options) => {
    const { file, command, error, agent, project, workstation } = options;
    if ([file, command, error].filter((each) => each !== undefined).length !== 1) {
      throw usageError("trace takes one of --file, --command and --error", "--file");
    }
    const input = given({
      file,
      command,
      error,
      agent,
      project,
      workstation,
      repo: toRepo(options.repo),
      excludeSession: options.exclude,
      ...toPeriod(options.since, options.until),
      limit: toCount(options.limit, "--limit"),
    });
    if (input.limit !== undefined && (input.limit < 1 || input.limit > MAX_HITS)) {
      throw usageError(`--limit must be 1 to ${MAX_HITS}`, "--limit");
    }
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
          `No session has this ${subject.kind}. A shorter part of it may be found; search finds what was only spoken of.`,
        );
      }
      for (const [i, each] of sessions.entries()) {
        if (i > 0) await terminal.print();
        for (const line of showTraced(each, Date.now()).split("\n")) {
          await terminal.print(clean(line));
        }
      }
      if (unread > 0) terminal.note("Older sessions may have it, too: --limit.");
      return code;
    });
  },
});
