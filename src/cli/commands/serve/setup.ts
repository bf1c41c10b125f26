/** `backscroll setup`: finds the agents, shows the changes, asks, writes, and checks the result. */

import { rm } from "node:fs/promises";
import { hidePasswords } from "../../../api/error.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import type { Environment } from "../../../ingest/source.ts";
import { readPolicy, requireAllowed } from "../../../policy.ts";
import { type Command, defineCommand, flag, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { commandLine, quote } from "../../program.ts";
import type { Agent, ServerCommand } from "../../setup/agents.ts";
import { AGENTS } from "../../setup/agents.ts";
import {
  type Change,
  copyOf,
  diffOf,
  fileOf,
  type Planned,
  pasteOf,
  planAdding,
  planRemoving,
  readServer,
  selectAgents,
  serverChange,
  withoutOurs,
} from "../../setup/change.ts";
import {
  type Edited,
  editConfig,
  REMOVED_SUFFIX,
  readConfig,
  reasonOf,
} from "../../setup/config-file.ts";
import { hooksChange } from "../../setup/hooks.ts";
import { programWords, serverCommand, storeOptions } from "../../setup/own-command.ts";
import { type Kept, settleKeep } from "../../setup/settle-keep.ts";
import { type TriedServer, tryServer } from "../../setup/try-server.ts";
import { askText, askYesNo, canAsk } from "../../terminal.ts";
import { clean } from "../../text.ts";

export const setup: Command = defineCommand({
  name: "setup",
  summary: "Add Backscroll to the agents on this machine, as their MCP server.",
  details:
    "Finds the agents, shows what it would add to which file, asks, replaces the file atomically, with a backup beside it (FILE.before-backscroll), and starts the server as that agent would. Running it again changes nothing; an entry changed by hand stays unless --replace is given. --db and --tenant become part of the entry. The first time it asks how long conversations are kept. docs/mcp.md has the files and formats.",
  arguments: [
    {
      name: "AGENT",
      many: true,
      optional: true,
      help: `${AGENTS.map(({ name }) => name).join(", ")}; those that are found if left out.`,
    },
  ],
  options: {
    "dry-run": flag("Show what would be written, and write nothing."),
    yes: { type: "boolean", short: "y", help: "Write without asking; needed without a terminal." },
    remove: flag("Take out what setup added, hooks included."),
    check: flag("Write nothing: start the servers that are set up."),
    replace: flag("Overwrite entries that were changed by hand."),
    hooks: flag("Add the hooks by which memory speaks unasked, too."),
    "no-hooks": flag("Do not offer the hooks."),
    "no-check": flag("Do not start the server after writing."),
  },
  examples: [
    "setup cursor --dry-run",
    "setup claude-code codex --yes",
    "setup --check",
    "setup --remove --yes",
  ],
  run: (context, args, options) => {
    const { remove = false, check = false, hooks = false } = options;
    const pairs = [
      ["remove", "check"],
      ["remove", "replace"],
      ["hooks", "no-hooks"],
      ["check", "no-check"],
      ["check", "hooks"],
      // `--check` writes no file, and `--dry-run` starts no server.
      ["check", "dry-run"],
    ] as const;
    for (const [one, other] of pairs) {
      if (options[one] && options[other]) {
        throw usageError(`--${one} and --${other} cannot go together`, `--${other}`);
      }
    }
    return runSetup(
      context,
      args.AGENT ?? [],
      {
        remove,
        check,
        hooks: options["no-hooks"] ? false : hooks ? true : undefined,
        dryRun: options["dry-run"] ?? false,
        yes: options.yes ?? false,
        replace: options.replace ?? false,
        tries: !options["no-check"],
      },
      thisMachine(),
      { isThere: canAsk(), ask: askYesNo, askText },
    );
  },
});

export interface SetupOptions {
  readonly dryRun: boolean;
  readonly yes: boolean;
  /** Overwrites entries changed by hand. */
  readonly replace: boolean;
  readonly remove: boolean;
  /** Writes no file: starts the configured servers. */
  readonly check: boolean;
  /** Whether to start the servers after writing. */
  readonly tries: boolean;
  /** Undefined: ask. */
  readonly hooks: boolean | undefined;
}

/** The person at the terminal. */
interface Asker {
  readonly isThere: boolean;
  readonly ask: (question: string) => Promise<boolean>;
  /** A line of text; empty at the end of the input. */
  readonly askText: (question: string) => Promise<string>;
}

/** The outcome of a change. */
type Outcome =
  | "added"
  | "replaced"
  | "removed"
  | "unchanged"
  /** Changed by hand, and kept. */
  | "kept"
  | "declined"
  | "absent"
  /** The file may not be read or written. */
  | "failed";

interface Done {
  readonly planned: Planned;
  readonly outcome: Outcome;
  readonly copy?: string;
  readonly check?: TriedServer;
  readonly failure?: string;
}

export async function runSetup(
  context: Context,
  names: readonly string[],
  options: SetupOptions,
  machine: Environment,
  asker: Asker,
): Promise<number> {
  const agents = selectAgents(names, machine);
  if (agents.length === 0) {
    const known = AGENTS.map(({ name }) => name).join(", ");
    if (context.json) await context.terminal.printJson({ dry_run: options.dryRun, agents: [] });
    context.terminal.note(`No agent was found on this machine. Name one to set it up: ${known}`);
    return EXIT.nothing;
  }
  return new Setup(context, options, machine, asker).run(agents);
}

class Setup {
  readonly #context: Context;
  readonly #options: SetupOptions;
  readonly #machine: Environment;
  readonly #asker: Asker;
  readonly #server: ServerCommand;

  constructor(context: Context, options: SetupOptions, machine: Environment, asker: Asker) {
    this.#context = context;
    this.#options = options;
    this.#machine = machine;
    this.#asker = asker;
    this.#server = serverCommand(context, machine);
  }

  async run(agents: readonly Agent[]): Promise<number> {
    const { check, remove, dryRun } = this.#options;
    // All files are read before the first is written: a syntax error stops everything.
    const changes = agents.flatMap((agent) => this.#changesOf(agent));
    const all = await Promise.all(changes.map(remove ? planRemoving : planAdding));
    const planned = all.filter(({ change, presence }) => {
      return !(remove && change.what === "hooks" && presence === "absent");
    });
    if (!check && !dryRun) this.#refuseSilence(planned);
    const done: Done[] = [];
    for (const [i, each] of planned.entries()) {
      const { file } = each.change;
      const isLast = !planned.slice(i + 1).some(({ change }) => change.file === file);
      const result = await this.#settle(each, isLast);
      done.push(result);
      if (!this.#context.json) await this.#print(result);
    }
    const kept = await this.#settleKeep(done);
    if (this.#context.json) await this.#printJson(done, kept);
    else await this.#printEnd(done, kept);
    return this.#exitCode(done);
  }

  #changesOf(agent: Agent): readonly Change[] {
    const server = serverChange(agent, fileOf(agent, this.#machine), this.#server);
    const hooks = this.#hooksOf(agent);
    if (hooks === undefined || !this.#wantsHooks()) return [server];
    // In reverse, so that the file becomes what it was step by step.
    return this.#options.remove ? [hooks, server] : [server, hooks];
  }

  #hooksOf(agent: Agent): Change | undefined {
    const machine = this.#machine;
    return hooksChange(agent, machine, programWords(machine), storeOptions(this.#context, machine));
  }

  /** Removal includes them; adding asks, or uses the option. */
  #wantsHooks(): boolean {
    const { hooks, remove, check, yes, dryRun } = this.#options;
    if (check || hooks === false) return false;
    if (hooks === true && !remove) requireAllowed("hooks");
    if (readPolicy().forbidden.includes("hooks")) return remove;
    return hooks === true || remove || (!yes && !dryRun && this.#asker.isThere);
  }

  #refuseSilence(planned: readonly Planned[]): void {
    const isNew = planned.some(({ before, after }) => before !== after);
    if (!isNew || this.#options.yes || (this.#asker.isThere && !this.#context.json)) return;
    throw usageError(
      "setup asks before it writes, and this terminal is not interactive; add --yes to write, or --dry-run to see what it would write",
      "--yes",
    );
  }

  /** `isLast`: no further change of the same file follows. */
  async #settle(planned: Planned, isLast: boolean): Promise<Done> {
    if (planned.failure !== undefined) return failed(planned, planned.failure);
    return this.#options.check ? this.#try(planned, "unchanged") : this.#carryOut(planned, isLast);
  }

  async #carryOut(planned: Planned, isLast: boolean): Promise<Done> {
    const { change, presence, before, after } = planned;
    const { remove, replace, dryRun } = this.#options;
    if (remove && presence === "absent") return { planned, outcome: "absent" };
    if (before === after) return this.#try(planned, "unchanged");
    const isChanged = !remove && presence === "different";
    if (isChanged && !replace && (dryRun || !this.#asks())) {
      return this.#try(planned, "kept");
    }
    const outcome = remove ? "removed" : isChanged ? "replaced" : "added";
    if (dryRun) return { planned, outcome };
    if (this.#asks()) {
      await this.#printDiff(planned);
      if (!(await this.#asker.ask(questionOf(planned, remove)))) {
        return { planned, outcome: isChanged ? "kept" : "declined" };
      }
    }
    const locks = change.agent.locks === true && change.what === "server";
    let edited: Edited;
    try {
      const add = (text: string | undefined) => change.add(text ?? "");
      edited = remove
        ? await removeOurs(change, locks, isLast)
        : await editConfig(change.file, add, { locks });
    } catch (error) {
      return failed(planned, reasonOf(error));
    }
    return remove ? { planned, outcome, ...edited } : this.#try(planned, outcome, edited.copy);
  }

  /** Once something of ours is in place. */
  async #settleKeep(done: readonly Done[]): Promise<Kept | undefined> {
    const { check, remove, dryRun } = this.#options;
    const isPlaced = done.some(
      ({ outcome }) => !["declined", "absent", "failed"].includes(outcome),
    );
    if (check || remove || dryRun || !isPlaced) return undefined;
    return settleKeep(this.#machine, this.#asks() ? this.#asker.askText : undefined);
  }

  #asks(): boolean {
    return !this.#options.yes && this.#asker.isThere;
  }

  /** Starts the server of the agent's file, as the agent would. */
  async #try(planned: Planned, outcome: Outcome, copy?: string): Promise<Done> {
    const done = { planned, outcome, ...(copy === undefined ? {} : { copy }) };
    const { agent, what, file } = planned.change;
    const { check, tries, dryRun, remove } = this.#options;
    if (what === "hooks" || dryRun || remove || !(check || tries)) return done;
    if (planned.presence === "absent" && check) return { ...done, outcome: "absent" };
    const server = await readServer(agent, file);
    if (server !== undefined) return { ...done, check: await tryServer(server, this.#machine) };
    const error = "its entry names no command";
    return { ...done, check: { ok: false, tools: 0, ms: 0, error } };
  }

  async #print({ planned, outcome, copy, check, failure }: Done): Promise<void> {
    const { terminal } = this.#context;
    const { agent, what, file } = planned.change;
    const { dryRun, remove } = this.#options;
    const title = what === "hooks" ? `${agent.title}, hooks` : agent.title;
    if (outcome === "failed") {
      const what = `could not ${this.#options.check ? "read" : "write"}`;
      const line = `${what} ${clean(this.#short(file))}: ${clean(failure ?? "")}`;
      await terminal.print(`${terminal.bold(title)}: ${line}`);
      return this.#printByHand(planned);
    }
    const told = dryRun && outcome !== "unchanged" ? WOULD[outcome] : SAID[outcome];
    await terminal.print(`${terminal.bold(title)}: ${told} (${clean(this.#short(file))})`);
    const isShown = dryRun ? planned.before !== planned.after : !this.#asks();
    const isNew = ["added", "replaced", "removed", "kept"].includes(outcome);
    if (isNew && (isShown || (outcome === "kept" && !remove))) await this.#printDiff(planned);
    if (copy !== undefined) await terminal.print(`  The file before: ${clean(this.#short(copy))}`);
    if (check?.ok) await terminal.print(`  It starts: ${check.tools} tools in ${check.ms} ms`);
    if (check?.ok === false)
      await terminal.print(`  It does not start: ${clean(check.error ?? "")}`);
  }

  /** What the user may do in the place of setup. */
  async #printByHand(planned: Planned): Promise<void> {
    const { terminal } = this.#context;
    const { check, remove } = this.#options;
    const lines = check ? [] : remove ? diffOf(planned) : pasteOf(planned);
    if (lines.length === 0) return;
    await terminal.print(remove ? "  To take out by hand:" : "  To paste there:");
    for (const line of lines) await terminal.print(`    ${clean(line)}`);
  }

  async #printDiff(planned: Planned): Promise<void> {
    const { terminal } = this.#context;
    if (this.#asks() && !this.#options.dryRun) {
      await terminal.print(clean(this.#short(planned.change.file)));
    }
    for (const line of diffOf(planned)) await terminal.print(`    ${clean(line)}`);
  }

  async #printEnd(done: readonly Done[], settled: Kept | undefined): Promise<void> {
    const { terminal } = this.#context;
    const { check, dryRun } = this.#options;
    const again = (words: string) => commandLine(this.#context, `setup ${words}`);
    const kept = done.filter(({ outcome }) => outcome === "kept");
    if (kept.length > 0) {
      const names = [...new Set(kept.map(({ planned }) => planned.change.agent.name))].join(" ");
      await terminal.print(
        `Changed by hand, and kept. To replace it: ${again(`${names} --replace`)}`,
      );
    }
    await this.#printHooks(done);
    if (settled !== undefined) {
      const span = settled.keep === "forever" ? "for ever" : settled.keep;
      await terminal.print(
        `Conversations are kept ${span}, also when the agents delete theirs. To change it: "keep" in ${clean(this.#short(settled.path))}`,
      );
    }
    if (dryRun) await terminal.print("Nothing was written.");
    else if (!check && done.some(({ outcome }) => outcome === "added" || outcome === "replaced")) {
      await terminal.print("Restart the agents: they read these files when they start.");
    }
  }

  async #printHooks(done: readonly Done[]): Promise<void> {
    const { terminal } = this.#context;
    const { check, remove, hooks, dryRun } = this.#options;
    if (check || remove) return;
    const agents = [...new Set(done.map(({ planned }) => planned.change.agent))];
    if (hooks === undefined && !this.#asks()) {
      const without: string[] = [];
      for (const agent of agents) if (await this.#lacksHooks(agent)) without.push(agent.name);
      if (without.length > 0) {
        const words = commandLine(this.#context, `setup ${without.join(" ")} --hooks`);
        await terminal.print(`To let memory speak unasked: ${words}`);
      }
    }
    const isNew = ({ planned: { change }, outcome }: Done) =>
      change.what === "hooks" && ["added", "replaced"].includes(outcome);
    if (dryRun || !done.some(isNew)) return;
    await terminal.print(
      `Memory speaks when a command fails and when a session starts; of files and prompts it only notes down what it would say: ${commandLine(this.#context, "unasked preview")}`,
    );
    if (done.some((each) => isNew(each) && each.planned.change.agent.name === "codex")) {
      await terminal.print("Codex runs no hook before you trust it: open Codex, and /hooks there.");
    }
  }

  async #lacksHooks(agent: Agent): Promise<boolean> {
    const change = this.#hooksOf(agent);
    if (change === undefined) return false;
    try {
      return change.presence((await readConfig(change.file)) ?? "") === "absent";
    } catch {
      return false;
    }
  }

  #printJson(done: readonly Done[], settled: Kept | undefined): Promise<void> {
    const { command, args } = this.#server;
    const { check: isCheck, remove } = this.#options;
    return this.#context.terminal.printJson({
      dry_run: this.#options.dryRun,
      keep: settled?.keep ?? null,
      command: [command, ...args].map(hidePasswords),
      agents: done.map(({ planned, outcome, copy, check, failure }) => ({
        agent: planned.change.agent.name,
        what: planned.change.what,
        file: planned.change.file,
        outcome,
        diff: DIFFERS.includes(outcome) ? diffOf(planned) : [],
        error: failure ?? null,
        paste:
          failure === undefined || isCheck || remove ? null : `${pasteOf(planned).join("\n")}\n`,
        copy: copy ?? null,
        check: check === undefined ? null : { error: null, ...check },
      })),
    });
  }

  #exitCode(done: readonly Done[]): number {
    const isBroken = done.some(
      ({ outcome, check }) => outcome === "failed" || !(check?.ok ?? true),
    );
    const isMissing = this.#options.check && done.every(({ outcome }) => outcome === "absent");
    return isBroken || isMissing ? EXIT.nothing : EXIT.ok;
  }

  #short(file: string): string {
    const { home } = this.#machine;
    return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
  }
}

function failed(planned: Planned, failure: string): Done {
  return { planned, outcome: "failed", failure };
}

const DIFFERS: readonly Outcome[] = ["added", "replaced", "removed", "kept", "failed"];

const SAID: Readonly<Record<Exclude<Outcome, "failed">, string>> = {
  added: "added",
  replaced: "replaced",
  removed: "removed",
  unchanged: "is set up",
  kept: "differs, and stays as it is",
  declined: "left alone",
  absent: "is not set up",
};

const WOULD: typeof SAID = {
  ...SAID,
  added: "would be added",
  replaced: "would be replaced",
  removed: "would be removed",
};

/**
 * Deletes the backup copy. A part changed by hand is kept in another copy, since adding ours again
 * would not restore it.
 */
async function removeOurs(change: Change, locks: boolean, isLast: boolean): Promise<Edited> {
  const copy = await readConfig(copyOf(change)).catch(() => undefined);
  const edit = (text: string | undefined) =>
    text === undefined ? undefined : withoutOurs(change, text, copy);
  const copySuffix = (text: string) => (change.isOnlyOurs(text) ? undefined : REMOVED_SUFFIX);
  const edited = await editConfig(change.file, edit, { locks, copySuffix });
  if (isLast) await rm(copyOf(change), { force: true });
  return edited;
}

function questionOf({ change, presence }: Planned, remove: boolean): string {
  const { agent, what, file } = change;
  const ours = what === "hooks" ? "these hooks" : "this";
  if (remove) return `Remove ${ours} from ${agent.title}?`;
  if (presence === "different") {
    return `The entry was changed by hand in ${quote(file)}. Replace it?`;
  }
  if (what === "hooks") {
    return `Let memory speak unasked in ${agent.title}, when a command fails and when a session starts?`;
  }
  return `Add this for ${agent.title}?`;
}
