/** Options that narrow several commands down. */

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

export const UNTIL = {
  type: "string",
  value: "TIME",
  help: "Up to then; a day, a month or a year counts whole.",
} as const;
