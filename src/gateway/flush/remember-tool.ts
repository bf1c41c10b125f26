/** The one tool of a memory flush, described without the AI SDK: https://standardschema.dev. */

import type { ChatTool } from "../../context/chat-model.ts";
import { isPlainObject } from "../../model/json.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", description: "A short name, such as deploy-steps." },
    content: { type: "string", description: "What to remember, in at most 8 KiB." },
  },
  required: ["name", "content"],
  additionalProperties: false,
};

export const REMEMBER_TOOL: ChatTool = {
  description: "Keep a note for later conversations, in place of one of the same name.",
  inputSchema: {
    "~standard": {
      version: 1,
      vendor: "backscroll",
      validate: (value: unknown) =>
        isMemory(value) ? { value } : { issues: [{ message: "name and content must be texts" }] },
      jsonSchema: { input: () => SCHEMA, output: () => SCHEMA },
    },
  },
};

function isMemory(value: unknown): boolean {
  return (
    isPlainObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["content"] === "string"
  );
}
