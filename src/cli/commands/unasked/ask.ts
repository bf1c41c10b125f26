import { parseTime } from "../../../api/text/times.ts";
import { askUnasked } from "../../../unasked/ask.ts";
import type { Moment } from "../../../unasked/moment.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";

/** A person waits, and the store may have been closed a moment ago. */
const DEADLINE_MS = 5_000;

interface Asked {
  readonly prompt?: string;
  readonly command?: string;
  readonly error?: string;
  readonly file?: string;
  readonly start?: boolean;
}

export const unaskedAsk: Command = defineCommand({
  name: "unasked ask",
  summary: "Say what memory would say unasked in a moment, and why, or why not.",
  details:
    "Takes one of --prompt, --error with --command, --file and --start. With --at it answers as of that time: nothing later is seen. Without --session, sessions of the folder that were active in the 20 minutes before count as the asker's own, which never answer. Only your own sessions speak (docs/ingest.md, whose words). Stores nothing. Exits with 1 if it would be silent.",
  options: {
    prompt: option("TEXT", "A person's prompt."),
    command: option("TEXT", "The command that failed."),
    error: option("TEXT", "What it printed."),
    file: option("PATH", "The file that was read."),
    start: flag("A session starts."),
    cwd: option("DIR", "The asker's folder; this one if left out."),
    branch: option("NAME", "The asker's branch of git."),
    session: option("ID", "The asker's own session."),
    at: option("TIME", "As of then: 2026-02-04T10:00:00Z; now if left out."),
  },
  examples: [
    "unasked ask --prompt 'why does the cron job run twice?'",
    "unasked ask --command 'git show --no-stat HEAD' --error 'fatal: unrecognized argument: --no-stat'",
  ],
  run: (context, _args, options) => {
    const asked = toMoment(options);
    const now = Date.now();
    const at =
      options.at === undefined ? now : parseTime(options.at, "--at", "since", now).getTime();
    const { cwd = process.cwd(), branch, session } = options;
    const place = {
      cwd,
      at,
      ...(branch === undefined ? {} : { branch }),
      ...(session === undefined ? {} : { session }),
    };
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const said = await askUnasked(tenant, { ...place, ...asked }, { deadlineMs: DEADLINE_MS });
      const code = said.speaks ? EXIT.ok : EXIT.nothing;
      if (context.json) {
        await terminal.printJson(said);
        return code;
      }
      const figures = Object.entries(said.why.figures).map(
        ([name, value]) => `${name} ${round(value)}`,
      );
      await terminal.print(
        said.speaks ? clean(said.text) : `Silent: ${said.why.reason.replaceAll("_", " ")}.`,
      );
      if (said.speaks) terminal.note(clean(said.person));
      if (figures.length > 0) terminal.note(figures.join(", "));
      return code;
    });
  },
});

function round(value: number): string {
  return String(Math.round(100 * value) / 100);
}

type Part = Moment extends infer Each
  ? Each extends Moment
    ? Pick<Each, Extract<keyof Each, "moment" | "text" | "command" | "error" | "file">>
    : never
  : never;

function toMoment({ prompt, command, error, file, start }: Asked): Part {
  const asked = [prompt, error, file, start === true ? "" : undefined];
  if (asked.filter((each) => each !== undefined).length !== 1) {
    throw usageError("unasked ask takes one of --prompt, --error, --file and --start", "--prompt");
  }
  if (prompt !== undefined) return { moment: "prompt", text: prompt };
  if (file !== undefined) return { moment: "file", file };
  if (error === undefined) return { moment: "start" };
  if (command === undefined) throw usageError("--error needs --command", "--command");
  return { moment: "error", command, error };
}
