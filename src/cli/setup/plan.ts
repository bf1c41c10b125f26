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
import { findProgram } from "./find-program.ts";

/** A unified diff of two texts (`diff -u`). */
const CONTEXT = 2;
/** More lines than this are shown as replaced: comparing them takes too long. */
const MAX_COMPARED = 2_000;

type Line = readonly [mark: " " | "+" | "-", text: string];

/** A line diff with ` `, `+` and `-`; `…` stands for equal lines. */
function diffLines(before: string, after: string): string[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(a.length, b.length) - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail++;
  }
  const same = (lines: readonly string[]) => lines.map((line): Line => [" ", line]);
  const all: Line[] = [
    ...same(a.slice(0, head)),
    ...compare(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
  return withContext(all);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** By the longest common subsequence. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length > MAX_COMPARED || b.length > MAX_COMPARED) {
    return [...a.map((line): Line => ["-", line]), ...b.map((line): Line => ["+", line])];
  }
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i++] ?? ""]);
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(["-", a[i++] ?? ""]);
    } else lines.push(["+", b[j++] ?? ""]);
  }
  return lines;
}

function withContext(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(([mark], i) => (mark === " " ? [] : [i]));
  const near = new Set(
    changed.flatMap((i) => Array.from({ length: 2 * CONTEXT + 1 }, (_, k) => i - CONTEXT + k)),
  );
  return lines.flatMap(([mark, text], i) => {
    if (near.has(i)) return [`${mark} ${text}`];
    return i > 0 && near.has(i - 1) && i < lines.length - 1 ? ["  …"] : [];
  });
}

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
