/** The input fields that describe a tool call, in order of preference: its main argument. */
export const TELLING_FIELDS: readonly string[] = [
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
