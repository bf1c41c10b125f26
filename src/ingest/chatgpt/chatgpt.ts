/** The export of ChatGPT: `conversations.json`, an array of conversations, each a tree of messages. */

import { isPlainObject } from "../../model/json.ts";
import { toImportedSession, toTranscript } from "../drafts.ts";
import { type Fields, otherFields, textField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { readElements } from "../json-elements.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedSession, TranscriptSource } from "../source.ts";
import { FORMAT, toTime } from "./chatgpt-message.ts";
import { ChatgptTree } from "./chatgpt-tree.ts";

/** The start of a conversation: after a damaged one, it locates the next. */
const BEGINS = /\{\s*"(?:title|conversation_id)"\s*:/;

export const CHATGPT: TranscriptSource = {
  name: FORMAT,

  recognise(head) {
    const text = textOfHead(head);
    return (
      /^\s*(?:\[\s*)?\{/.test(text) &&
      /"mapping"\s*:\s*\{/.test(text) &&
      /"(create_time|conversation_id|current_node)"\s*:/.test(text)
    );
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      for await (const conversation of readElements(input, BEGINS, problems)) {
        const session = toSession(conversation, problems);
        if (session !== undefined) yield session;
      }
    }),
};

function toSession(conversation: Fields, problems: ProblemLog): ImportedSession | undefined {
  const { mapping } = conversation;
  const id = textField(conversation, "conversation_id") ?? textField(conversation, "id");
  if (!isPlainObject(mapping) || id === undefined) {
    problems.add("unexpected", "a conversation without an id, or without messages, was left out");
    return undefined;
  }
  const tree = new ChatgptTree(mapping, problems);
  const known = ["conversation_id", "id", "title", "mapping", "create_time", "current_node"];
  return {
    ...toImportedSession(FORMAT, {
      id,
      title: textField(conversation, "title") || null,
      startedAt: toTime(conversation["create_time"]),
      fields: otherFields(conversation, known),
    }),
    entries: tree.entries(),
    leaf: () => tree.entryAt(textField(conversation, "current_node")),
    problems,
  };
}
