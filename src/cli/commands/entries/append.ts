import { fromWireMessage } from "../../../api/message-input.ts";
import { toWire } from "../../../api/shape.ts";
import type { MessageInput } from "../../../engine/message-input.ts";
import type { Role } from "../../../model/entry.ts";
import { ENTRY } from "../../../model/entry.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { readText } from "../../stdin.ts";
import { withStore } from "../../store.ts";
import { given, toJsonValue } from "../../values.ts";

export const append: Command = defineCommand({
  name: "append",
  aliases: ["append_message"],
  summary: "Append a message to a session and print its id.",
  details:
    "The message is stored for good when the id is printed. With --json-message the text is a JSON object with role, actor, content (text or blocks), tool_calls, tool_results, usage, model, metadata, created_at; or an array of such objects, stored all or none.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "TEXT", optional: true, help: "The text; standard input if it is - or left out." },
  ],
  options: {
    role: { type: "string", value: "ROLE", help: "user (if left out), assistant, system or tool." },
    actor: { type: "string", value: "NAME", help: "The actor." },
    model: { type: "string", value: "NAME", help: "The model that wrote it." },
    "json-message": { type: "boolean", help: "The text is a message as JSON." },
    parent: { type: "string", value: "ENTRY", help: "Answer this entry instead of the leaf." },
    "expect-leaf": {
      type: "string",
      value: "ENTRY",
      help: "Fail unless this is the active leaf still (root: unless the session is empty).",
    },
    key: {
      type: "string",
      value: "KEY",
      help: "The same request under the same key is stored once, for seven days.",
    },
  },
  examples: [
    'append 5f0c2a91 "Why does the cron job run twice?" --actor ana',
    "append 5f0c2a91 - --role assistant --actor coder < answer.txt",
  ],
  run: async (context, args, options) => {
    const { role, actor, model, parent, key } = options;
    const asJson = options["json-message"] ?? false;
    if (asJson && (role ?? actor ?? model) !== undefined) {
      throw usageError(
        "with --json-message, role, actor and model are in the JSON",
        "--json-message",
      );
    }
    const text = await readText(args.TEXT, context.terminal);
    const messages = asJson
      ? parseMessages(text)
      : [{ role: (role ?? "user") as Role, content: text, ...given({ actor, model }) }];
    const expectedLeaf = options["expect-leaf"];
    const place = given({
      parent: parent === "root" ? null : parent,
      expectedLeaf: expectedLeaf === "root" ? null : expectedLeaf,
      idempotencyKey: key,
    });
    return withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const entries = await handle.append(messages, place);
      const { terminal } = context;
      if (context.json) await terminal.printJson({ entries: toWire([ENTRY], entries) });
      else for (const entry of entries) await terminal.print(entry.id);
      return EXIT.ok;
    });
  },
});

function parseMessages(text: string): MessageInput[] {
  const value = toJsonValue(text, "the message");
  return Array.isArray(value)
    ? value.map((message, i) => fromWireMessage(message, `messages[${i}]`))
    : [fromWireMessage(value)];
}
