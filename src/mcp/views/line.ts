/** Text as one line of a model's answer. */

/** The numbers that agents put before the lines of a file that they read. */
const LINE_NUMBERS = /^\s*\d+(→|\t|\|)/gm;

export function withoutNumber(line: string): string {
  return line.replace(LINE_NUMBERS, "");
}

/** Paths within the session's project as one names them there. */
export function withinProject(text: string, project: string | undefined): string {
  return project === undefined || project.length < 2 ? text : text.replaceAll(`${project}/`, "");
}

/** White space is one space. `…` says that something is missing. */
export function toLine(text: string, characters: number, isCut = false): string {
  const head = text.slice(0, characters * 8);
  const line = head.replace(LINE_NUMBERS, "").replace(/\s+/g, " ").trim();
  const isLong = line.length > characters;
  const shown = isLong
    ? line
        .slice(0, characters - 1)
        .toWellFormed()
        .trimEnd()
    : line;
  const missing = isLong || isCut || head.length < text.length;
  return missing && !shown.endsWith("…") ? `${shown}…` : shown;
}
