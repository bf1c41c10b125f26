/** Prints lists and tables of a command. */

import type { Context } from "./context.ts";
import { formatTable } from "./print.ts";
import { commandLine } from "./program.ts";

type Rows = readonly (readonly string[])[];

export async function printTable(
  { terminal }: Context,
  header: readonly string[],
  rows: Rows,
  columns: number = terminal.columns,
): Promise<void> {
  for (const line of formatTable(header, rows, columns)) await terminal.print(line);
}

interface List {
  /** The document of `--json`. */
  readonly json: object;
  readonly header: readonly string[];
  readonly rows: Rows;
  /** The sentence in place of an empty table. */
  readonly none: string;
  /** The words of the command for the next page; null: this is the last one. */
  readonly more?: string | null;
  /** Default: those of the terminal. */
  readonly columns?: number;
}

export async function printList(context: Context, list: List): Promise<void> {
  const { json, header, rows, none, more = null, columns } = list;
  const { terminal } = context;
  if (context.json) return terminal.printJson(json);
  if (rows.length === 0) return terminal.print(none);
  await printTable(context, header, rows, columns);
  if (more !== null) terminal.note(`More: ${commandLine(context, more)}`);
}
