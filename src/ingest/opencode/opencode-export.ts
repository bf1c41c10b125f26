/**
 * The output of `opencode export`: one JSON object with a session as `info`, and its `messages`,
 * each with an `info` and its `parts`. Files may have any name.
 */

import { isPlainObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { type Fields, objectsIn, textField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { FORMAT, type OpencodeMessage, toOpencodeSession } from "./opencode-session.ts";

export const OPENCODE_EXPORT: TranscriptSource = {
  name: `${FORMAT}-export`,

  recognise(head) {
    const text = textOfHead(head);
    const isExport = /^\s*\{\s*"info"\s*:\s*\{/.test(text);
    // The id may be masked.
    return isExport && /"id"\s*:\s*"ses_|"projectID"\s*:/.test(text.slice(0, 4096));
  },

  isText: () => true,

  read(input) {
    const problems = new ProblemLog();
    return { sessions: readExport(input, problems), problems };
  },
};

async function* readExport(
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const document = await readDocument(input, "messages", problems);
  if (document === undefined) return;
  const { frame } = document;
  const info = isPlainObject(frame) ? frame["info"] : undefined;
  if (!isPlainObject(info) || textField(info, "id") === undefined) {
    problems.add("unexpected", "the file is JSON, but not a session that opencode exported");
    return;
  }
  const messages = toMessages(document.elements(problems), problems);
  // An export is complete, so nothing is postponed.
  yield toOpencodeSession(info, messages, problems, () => undefined);
}

async function* toMessages(
  elements: AsyncIterable<unknown>,
  problems: ProblemLog,
): AsyncGenerator<OpencodeMessage> {
  let number = 0;
  for await (const element of elements) {
    number++;
    if (element === undefined) continue;
    const data = isPlainObject(element) ? element["info"] : undefined;
    if (!isPlainObject(element) || !isPlainObject(data)) {
      problems.add("unexpected", `message ${number} has no info and was left out`);
      continue;
    }
    const id = textField(data, "id") ?? `message-${number}`;
    const listed = element["parts"];
    const parts = objectsIn(listed).map(toPart(id));
    yield { id, data, parts, updatedAt: 0 };
  }
}

/** A part without an id is identified by its message and its number. */
function toPart(message: string): (part: Fields, i: number) => OpencodeMessage["parts"][number] {
  return (part, i) => ({ ...part, id: textField(part, "id") ?? `${message}-part-${i}` });
}
