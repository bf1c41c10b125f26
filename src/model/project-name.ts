/** The last part of a POSIX or Windows path; the last two if the last is a number, as of worktrees. */
export function projectName(path: string): string {
  const parts = path.split(/[/\\]/).filter(Boolean);
  const isNumber = /^\d*$/.test(parts.at(-1) ?? "");
  return parts.slice(isNumber ? -2 : -1).join("/") || path;
}
