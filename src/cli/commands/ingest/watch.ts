import { toWireOutcome } from "../../../api/ingest.ts";
import type { FileOutcome } from "../../../archive/outcome.ts";
import { type WatchInput, watchPlaces } from "../../../archive/watch.ts";
import { isOutage, keepRunning } from "../../../engine/leases/outage.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import { defined } from "../../../model/defined.ts";
import { messageOf } from "../../../model/errors.ts";
import { type Command, defineCommand, flag, option } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { followTranscripts, OWNER_VARIABLE } from "../../follow.ts";
import { Hub } from "../../hub/hub.ts";
import { counted } from "../../print.ts";
import { prepareBulk, refuseServer, withStore } from "../../store.ts";
import type { Terminal } from "../../terminal.ts";
import { toNumber } from "../../values.ts";
import { toInput } from "../input-options.ts";

export const watchCommand: Command = defineCommand({
  name: "watch",
  summary: "Follow the transcripts on this machine: store lines as agents write them.",
  details:
    "Ingests existing transcripts, and then each file as it grows: a line is searchable within a second. A new agent is noticed within 5 seconds. A periodic scan finds changes without file events. Runs until interrupted. With --json it prints a line for each file.",
  options: {
    source: option("NAME", "Only transcripts of this format."),
    oversize: option(
      "HOW",
      "Lines over 1 MB: cut their long values (if left out), or skip the lines.",
    ),
    "until-quiet": option(
      "SECONDS",
      "End after this long without a write, and at once if another process follows.",
    ),
    "no-originals": flag("Do not keep the bytes of the files (or BACKSCROLL_ORIGINALS=off)."),
  },
  examples: ["watch"],
  run: async (context, _args, options) => {
    const quiet = toNumber(options["until-quiet"], "--until-quiet");
    const how = {
      ...toInput("watchPlaces", options),
      ...(options["no-originals"] ? { originals: false } : {}),
    };
    if (quiet !== undefined) return watchUntilQuiet(context, quiet, how);
    return withStore(
      context,
      "create",
      async (tenant, engine) => {
        const { terminal } = context;
        const end = new AbortController();
        const stop = () => end.abort();
        process.once("SIGINT", stop).once("SIGTERM", stop);
        const say = async (line: string) => {
          if (!context.json) await terminal.print(line);
        };
        let entries = 0;
        const told = new Set<string>();
        const onError = (error: unknown) => terminal.note(messageOf(error));
        const hub = isServer(context.address)
          ? undefined
          : await Hub.open(context, { engine: async () => engine, onError }, true).catch(onError);
        try {
          const input: WatchInput = {
            environment: thisMachine(),
            signal: end.signal,
            ...how,
            onReady: (folders) =>
              void say(`Watching ${counted(folders, "folder")}; Ctrl-C ends it.`),
            onOutcome: (outcome) => {
              const added = outcome.sessions.reduce((sum, each) => sum + each.entries, 0);
              entries += added;
              if (context.json) void terminal.print(JSON.stringify(toWireOutcome(outcome)));
              else if (added > 0) void say(`${outcome.path}: ${counted(added, "new entry")}`);
              if (!context.json) noteProblems(terminal, outcome, told);
            },
          };
          await keepRunning(() => watchPlaces(tenant, input), {
            signal: end.signal,
            isPassing: isOutage,
            onError: (error) =>
              terminal.note(`Waiting until the store can be used again: ${messageOf(error)}`),
          });
        } finally {
          process.off("SIGINT", stop).off("SIGTERM", stop);
          await hub?.close();
        }
        await say(`Stored ${counted(entries, "entry")}.`);
      },
      "bulk",
    );
  },
});

/** One process per store follows: others would read the same files. */
async function watchUntilQuiet(
  context: Context,
  seconds: number,
  how: Pick<WatchInput, "source" | "oversize" | "originals">,
): Promise<number> {
  refuseServer(context, "watch --until-quiet", "leave --until-quiet out");
  prepareBulk();
  const { terminal } = context;
  const end = new AbortController();
  const stop = () => end.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const owner = process.env[OWNER_VARIABLE];
  const told = new Set<string>();
  let [entries, isReady] = [0, false];
  try {
    await followTranscripts(context, {
      signal: end.signal,
      patienceMs: 0,
      quietMs: seconds * 1_000,
      ...defined({ owner }),
      ...how,
      onReady: () => {
        isReady = true;
      },
      onOutcome: (outcome) => {
        entries += outcome.sessions.reduce((sum, each) => sum + each.entries, 0);
        if (context.json) void terminal.print(JSON.stringify(toWireOutcome(outcome)));
        else noteProblems(terminal, outcome, told);
      },
    });
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
  if (context.json) return EXIT.ok;
  const result = `Stored ${counted(entries, "entry")}.`;
  await terminal.print(isReady || end.signal.aborted ? result : "Another process follows.");
  return EXIT.ok;
}

/** Prints the unreadable parts of a file with their lines; an unknown format is reported once. */
function noteProblems(terminal: Terminal, outcome: FileOutcome, told: Set<string>): void {
  const { path, how, problems } = outcome;
  for (const { line, message } of problems.slice(0, 3)) {
    terminal.note(`  ${path}${line === undefined ? "" : `:${line}`}: ${message}`);
  }
  if (how !== "unrecognised" || told.has(path)) return;
  told.add(path);
  terminal.note(`  not recognised: ${path}`);
}
