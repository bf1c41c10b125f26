/** Plans the changes of `setup`, before anything is written. */

import { existsSync } from "node:fs";
import { hidePasswords } from "../../api/address.ts";
import { maskText } from "../../api/mask.ts";
import { joinPath } from "../../ingest/machine-paths.ts";
import type { Environment } from "../../ingest/source.ts";
import { didYouMean } from "../../model/suggest.ts";
import { usageError } from "../command.ts";
import type { Agent } from "./agent.ts";
import { AGENTS, claudeFolder } from "./agents.ts";
import { type Change, copyOf, type Presence, withoutOurs } from "./change.ts";
import { inFile, readConfig } from "./config-file.ts";
import { diffLines } from "./diff.ts";
import { findProgram } from "./find-program.ts";

export interface Planned {
  readonly change: Change;
  readonly presence: Presence;
  /** The file's current and planned text; undefined if missing. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The named agents, else all on this machine. */
export function selectAgents(names: readonly string[], machine: Environment): readonly Agent[] {
  if (names.length === 0) return AGENTS.filter((agent) => isHere(agent, machine));
  const known = AGENTS.map(({ name }) => name);
  return [...new Set(names)].map((name) => {
    const agent = AGENTS.find((each) => each.name === name);
    if (agent !== undefined) return agent;
    const suggestion = didYouMean(name, known) || `; known are ${known.join(", ")}`;
    throw usageError(`setup knows no agent ${name}${suggestion}`, "AGENT");
  });
}

export function isHere(agent: Agent, machine: Environment): boolean {
  return (
    agent.folders(machine).some((folder) => existsSync(folder)) ||
    agent.files(machine).some((file) => existsSync(file)) ||
    agent.executables.some((name) => findProgram(name, machine) !== undefined)
  );
}

export function fileOf(agent: Agent, machine: Environment): string {
  const files = agent.files(machine);
  return files.find((file) => existsSync(file)) ?? files[0] ?? "";
}

export function hooksFileOf(machine: Environment): string {
  return joinPath(claudeFolder(machine), "settings.json");
}

export async function planAdding(change: Change): Promise<Planned> {
  const before = await readConfig(change.file);
  return inFile(change.file, () => {
    const presence = change.presence(before ?? "");
    const after = presence === "same" ? before : change.add(before ?? "");
    return { change, presence, before, after };
  });
}

export async function planRemoving(change: Change): Promise<Planned> {
  const before = await readConfig(change.file);
  const copy = await readConfig(copyOf(change)).catch(() => undefined);
  return inFile(change.file, () => {
    const presence = change.presence(before ?? "");
    const isThere = before !== undefined && presence !== "absent";
    const after = isThere ? withoutOurs(change, before, copy) : before;
    return { change, presence, before, after };
  });
}

/** For display: secrets in neighbouring lines are masked. */
export function diffOf({ before, after }: Planned): string[] {
  return diffLines(before ?? "", after ?? "").map((line) => maskText(hidePasswords(line)));
}
