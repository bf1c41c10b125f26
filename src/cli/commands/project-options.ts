/** Options that narrow a command down to a project or a repository. */

export const PROJECT = {
  type: "string",
  value: "NAME",
  help: "Only this project: its folder's name, the end of its path, or its id.",
} as const;

export const REPO = {
  type: "string",
  value: "NAME",
  help: "Only clones and worktrees of this repository: its remote, or the end of it.",
} as const;
