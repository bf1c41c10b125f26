/** Text as one line of an answer. */

import { headOf } from "../../model/display.ts";

/** Line numbers that agents prefix to file contents. */
const LINE_NUMBERS = /^[ \t]*\d+(→|\t|\|)/gm;

export function withoutNumber(line: string): string {
  return line.replace(LINE_NUMBERS, "");
}

/** Paths relative to the session's project. */
export function withinProject(text: string, project: string | undefined): string {
  return project === undefined || project.length < 2 ? text : text.replaceAll(`${project}/`, "");
}

/** Collapses white space; `…` marks a cut. */
export function toLine(text: string, characters: number, isCut = false): string {
  const head = text.slice(0, characters * 8);
  const line = head.replace(LINE_NUMBERS, "").replace(/\s+/g, " ").trim();
  const isLong = line.length > characters;
  const shown = isLong ? headOf(line, characters - 1).trimEnd() : line;
  const missing = isLong || isCut || head.length < text.length;
  return missing && !shown.endsWith("…") ? `${shown}…` : shown;
}
