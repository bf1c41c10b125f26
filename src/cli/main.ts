/** The command line: finds the command, runs it, and prints an error as one line. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { hidePasswords, toWireError } from "../api/error.ts";
import { configPlace, hasConfig } from "../gateway/config/find-config.ts";
import { BackscrollError } from "../model/errors.ts";
import { readVariable, SECRET_PREFIX } from "../model/variables.ts";
import type { Command } from "./command.ts";
import { createContext } from "./context.ts";
import { EXIT, exitCodeOf } from "./exit.ts";
import { commandHelp, overviewHelp, wholeHelp } from "./help.ts";
import { findCommand, parseInvocation, splitCommand } from "./parse.ts";
import { readVersion, versions } from "./program.ts";
import { endQuietlyOnBrokenPipe, Terminal } from "./terminal.ts";

const START = "start";
const PICK = "pick";

/** Agents wait for these commands to start, so they are loaded without the others. */
const LOADED_ALONE: Readonly<Record<string, () => Promise<Command>>> = {
  mcp: async () => (await import("./commands/serve/mcp.ts")).mcp,
  hub: async () => (await import("./commands/serve/hub.ts")).hub,
  hook: async () => (await import("./commands/serve/hook.ts")).hook,
};

/** Gives the exit code. Never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  endQuietlyOnBrokenPipe();
  const terminal = new Terminal();
  try {
    maskOwnSecrets();
    return await run(argv, terminal);
  } catch (error) {
    report(error, argv, terminal);
    return exitCodeOf(error);
  }
}

async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const { words, before, after } = splitCommand(argv);
  const asks = (option: string) => [...before, ...after].includes(option);
  const [first] = words;

  const asksForVersion = ["--version", "-v"].some(
    (option) => asks(option) && (first === undefined || after.includes(option)),
  );
  if (asksForVersion) {
    if (asks("--json")) await terminal.printJson(versions());
    else await terminal.print(readVersion());
    return EXIT.ok;
  }
  const asksForHelp = asks("--help") || asks("-h");
  const alone = Object.hasOwn(LOADED_ALONE, first ?? "") ? LOADED_ALONE[first ?? ""] : undefined;
  if (alone !== undefined) return runCommand([await alone()], argv, terminal);
  const { COMMAND_GROUPS, COMMANDS, VERBS } = await import("./commands/index.ts");
  if (first === "help" && after.length === 2 && after[1] === "--all") {
    await terminal.write(wholeHelp(COMMAND_GROUPS));
    return EXIT.ok;
  }
  if ((first === undefined && asksForHelp) || (first === "help" && after.length === 1)) {
    await terminal.write(overviewHelp(VERBS));
    return EXIT.ok;
  }
  // Without a command: the picker for a person with a store, else ingest and suggest next steps.
  if (first === undefined) {
    const isPerson = process.stdin.isTTY === true && terminal.interactive && !asks("--json");
    return run(
      [...before, isPerson && (await hasSessions(before, terminal)) ? PICK : START],
      terminal,
    );
  }
  if (first === "help") return run([...after.slice(1), "--help"], terminal);

  const group = COMMANDS.filter((command) => command.name.startsWith(`${first} `));
  if (group.length > 0 && words.length === 1 && (asks("--help") || asks("-h"))) {
    await terminal.write(group.map(commandHelp).join("\n"));
    return EXIT.ok;
  }
  return runCommand(COMMANDS, argv, terminal);
}

/** Whether there is something to pick from; a store that cannot be read is told by `start`. */
async function hasSessions(options: readonly string[], terminal: Terminal): Promise<boolean> {
  const [{ withStore }, { start }] = await Promise.all([
    import("./store.ts"),
    import("./commands/ingest/start.ts"),
  ]);
  const context = createContext(parseInvocation(start, options).options, terminal);
  try {
    return await withStore(context, "read", async (tenant) => {
      return (await tenant.listSessions({ limit: 1 })).sessions.length > 0;
    });
  } catch (error) {
    if (BackscrollError.is(error)) return false;
    throw error;
  }
}

async function runCommand(
  commands: readonly Command[],
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { words, before, after } = splitCommand(argv);
  const { command, length } = findCommand(words, commands);
  const { args, options } = parseInvocation(command, [...before, ...after.slice(length)]);
  if (options["help"] === true) {
    await terminal.write(commandHelp(command));
    return EXIT.ok;
  }
  return command.run(createContext(options, terminal), args, options);
}

/** One line for a person, one object for a program. A bug shows its stack, for a report. */
function report(error: unknown, argv: readonly string[], terminal: Terminal): void {
  const wire = toWireError(error);
  const { code, message } = wire.error;
  if (argv.includes("--json")) {
    terminal.note(JSON.stringify(wire));
    return;
  }
  terminal.note(
    `backscroll: ${message.replace(/\s+/g, (space) => (space.includes("\n") ? " " : space))} (${code})`,
  );
  if (!BackscrollError.is(error) && error instanceof Error) {
    terminal.note(hidePasswords(error.stack ?? ""));
  }
}

/**
 * The secrets that the configuration names, for every process and thread that masks.
 *
 * Whoever writes conversations reads the configuration strictly and refuses a wrong one; a command
 * that only shows them goes on.
 */
function maskOwnSecrets(): void {
  const { env } = process;
  if (readVariable("BACKSCROLL_SECRETS", env) !== undefined || !hasConfig(homedir(), env)) return;
  const prefixes = readPrefixes(configPlace(homedir(), env).path);
  if (prefixes.length > 0) env["BACKSCROLL_SECRETS"] = prefixes.join(",");
}

function readPrefixes(path: string): readonly string[] {
  let config: { readonly secrets?: { readonly prefixes?: unknown } } | null;
  try {
    config = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return []; // Told by the strict reader.
  }
  const prefixes = config?.secrets?.prefixes;
  if (!Array.isArray(prefixes)) return [];
  return prefixes.filter((each) => typeof each === "string" && SECRET_PREFIX.test(each));
}
