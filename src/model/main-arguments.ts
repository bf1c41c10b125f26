/** The input fields that describe a tool call, in order of preference: its main argument. */
export const MAIN_ARGUMENTS: readonly string[] = [
  "command",
  "cmd",
  "file_path",
  "path",
  "filePath",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
  "subject",
  "skill",
  "name",
];
