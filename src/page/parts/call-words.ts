/** The describing value of a tool call, and paths below a folder. Pure. */

import { MAIN_ARGUMENTS } from "../../model/display.ts";

/** The describing value of a call's input; undefined if there is none. The JSON may be cut off at its end. */
export function mainArgument(json: string): string | undefined {
  for (const field of MAIN_ARGUMENTS) {
    const value = new RegExp(`"${field}":\\s*"((?:[^"\\\\]|\\\\.)+)`).exec(json)?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A path below a folder without that folder; any other text as it is. */
export function below(folder: string | undefined, text: string): string {
  if (folder === undefined || folder === "") return text;
  const start = /[/\\]$/.test(folder) ? folder : `${folder}${folder.includes("\\") ? "\\" : "/"}`;
  return text.startsWith(start) && text.length > start.length ? text.slice(start.length) : text;
}
