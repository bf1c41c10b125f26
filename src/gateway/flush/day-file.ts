/**
 * Memories in a file per day, for agents whose workspace is a folder.
 *
 * The file is append-only, and a line that it already has is skipped: a repeated flush is
 * idempotent.
 */

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface NewMemory {
  readonly name: string;
  readonly content: string;
}

/** The day of `now` in a time zone, as `YYYY-MM-DD`. */
export function dayOf(now: number, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(now);
  const part = (type: string) => parts.find((found) => found.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

/** Gives the path of the file. */
export async function writeDayFile(
  folder: string,
  day: string,
  memories: readonly NewMemory[],
): Promise<string> {
  const file = join(folder, `${day}.md`);
  await mkdir(folder, { recursive: true });
  const present = await readOrEmpty(file);
  const known = new Set(present.split("\n"));
  const lines = memories
    .map(({ name, content }) => `- **${oneLine(name)}**: ${oneLine(content)}`)
    .filter((line, i, all) => !known.has(line) && all.indexOf(line) === i);
  if (lines.length === 0) return file;
  const start = present === "" ? `# ${day}\n\n` : present.endsWith("\n") ? "" : "\n";
  await appendFile(file, `${start}${lines.join("\n")}\n`);
  return file;
}

/** A memory is one line: text after a line break must not pose as another memory. */
function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, (space) => (/[\r\n\u2028\u2029]/.test(space) ? " / " : space));
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
