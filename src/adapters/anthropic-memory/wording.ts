/** The answers of the commands, as the memory tool's documentation words them. */

/** Files and folders as `view` of a folder lists them. */
export interface Listed {
  /** As the model knows it; a folder's ends with a slash. */
  readonly path: string;
  readonly bytes: number;
}

export const MAX_LINES = 999_999;
const NUMBER_WIDTH = String(MAX_LINES).length;

export const noSuchPath = (path: string): string =>
  `The path ${path} does not exist. Please provide a valid path.`;

export function folderView(path: string, bytes: number, items: readonly Listed[]): string {
  const head = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;
  const lines = [{ path, bytes }, ...items].map((item) => `${sizeOf(item.bytes)}\t${item.path}`);
  return [head, ...lines].join("\n");
}

/** `range` is the first and the last line, from 1; -1 stands for the end. */
export function fileView(
  path: string,
  content: string,
  range: readonly number[] | undefined,
): string {
  const lines = content.split("\n");
  const [first = 1, last = -1] = range ?? [];
  const from = Math.max(1, first);
  const shown = lines.slice(from - 1, last === -1 ? undefined : last);
  return `Here's the content of ${path} with line numbers:\n${numbered(shown, from)}`;
}

/** The lines around the changed one, which is counted from 0. */
export function editedSnippet(content: string, line: number): string {
  const from = Math.max(0, line - 2);
  const shown = content.split("\n").slice(from, line + 3);
  const head =
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
  return `${head}\n${numbered(shown, from + 1)}`;
}

function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${String(first + i).padStart(NUMBER_WIDTH)}\t${line}`).join("\n");
}

/** As `du -h` has it: `0B`, `512B`, `1.5K`. */
function sizeOf(bytes: number): string {
  const units = ["B", "K", "M", "G"];
  let size = bytes;
  let unit = 0;
  while (size >= 1_024 && unit < units.length - 1) {
    size /= 1_024;
    unit++;
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[unit]}`;
}
