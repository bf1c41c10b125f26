import { fromWireMessage } from "../../../api/message-input.ts";
import { toWireSession } from "../../../api/session.ts";
import { toWire } from "../../../api/shape.ts";
import type { MessageInput } from "../../../engine/message-input.ts";
import { defined } from "../../../model/defined.ts";
import { ENTRY, type Role } from "../../../model/entry.ts";
import { MARK } from "../../../model/mark.ts";
import { findPlace } from "../../../recap/find-place.ts";
import { type Command, defineCommand, flag, option, SESSION, usageError } from "../../command.ts";
import { withSession, withStore } from "../../store.ts";
import { readText, toJsonValue } from "../../values.ts";
import { toInput } from "../input-options.ts";

export const append: Command = defineCommand({
  name: "append",
  aliases: ["append_message"],
  summary: "Append a message to a session and print its id.",
  details:
    "The message is stored for good when the id is printed. With --json-message the text is a JSON object with role, actor, content (text or blocks), tool_calls, tool_results, usage, model, metadata, created_at; or an array of such objects, stored all or none.",
  arguments: [
    SESSION,
    { name: "TEXT", optional: true, help: "The text; standard input if it is - or left out." },
  ],
  options: {
    role: option("ROLE", "user (if left out), assistant, system or tool."),
    actor: option("NAME", "The actor."),
    model: option("NAME", "The model that wrote it."),
    "json-message": flag("The text is a message as JSON."),
    parent: option("ENTRY", "Answer this entry instead of the leaf."),
    "expect-leaf": option(
      "ENTRY",
      "Fail unless this is the active leaf still (root: unless the session is empty).",
    ),
    key: option("KEY", "The same request under the same key is stored once, for seven days."),
  },
  examples: [
    'append 5f0c2a91 "Why does the cron job run twice?" --actor ana',
    "append 5f0c2a91 - --role assistant --actor coder < answer.txt",
  ],
  run: async (context, args, options) => {
    const { role, actor, model } = options;
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
      : [{ role: (role ?? "user") as Role, content: text, ...defined({ actor, model }) }];
    const place = toInput("append.options", options);
    return withSession(context, "write", args.SESSION, async (handle) => {
      const entries = await handle.append(messages, place);
      const { terminal } = context;
      if (context.json) await terminal.printJson({ entries: toWire([ENTRY], entries) });
      else for (const entry of entries) await terminal.print(entry.id);
    });
  },
});

function parseMessages(text: string): MessageInput[] {
  const value = toJsonValue(text, "the message");
  return Array.isArray(value)
    ? value.map((message, i) => fromWireMessage(message, `messages[${i}]`))
    : [fromWireMessage(value)];
}

export const branch: Command = defineCommand({
  name: "branch",
  summary: "Make an entry the active leaf, so that the next append continues from there.",
  details: "Later entries stay on their own branch: show SESSION --tree has all branches.",
  arguments: [SESSION, { name: "ENTRY", help: "The entry's id, or root to start over." }],
  options: {
    summary: option("TEXT", "A summary of the abandoned path, for the model."),
  },
  examples: ["branch 5f0c2a91 01JZ8Q9D2M"],
  run: (context, args, options) =>
    withSession(context, "write", args.SESSION, async (handle) => {
      const entry = args.ENTRY === "root" ? null : args.ENTRY;
      await handle.branch(entry, defined({ summary: options.summary }));
      if (context.json) await context.terminal.printJson(toWireSession(await handle.meta()));
    }),
});

export const edit: Command = defineCommand({
  name: "edit",
  summary: "Replace a message by a new one beside it, and print the new one's id.",
  details:
    "Nothing is overwritten: the old message, and what followed it, stay on their own branch.",
  arguments: [
    SESSION,
    { name: "ENTRY", help: "The message to replace." },
    { name: "TEXT", optional: true, help: "The text; standard input if it is - or left out." },
  ],
  options: {
    actor: option("NAME", "The actor; the same if left out."),
  },
  examples: ['edit 5f0c2a91 01JZ8Q9D2M "Why does the backup job run twice?"'],
  run: async (context, args, options) => {
    const text = await readText(args.TEXT, context.terminal);
    return withSession(context, "write", args.SESSION, async (handle) => {
      const entry = await handle.edit(args.ENTRY, text, defined({ actor: options.actor }));
      if (context.json) await context.terminal.printJson(toWire(ENTRY, entry));
      else await context.terminal.print(entry.id);
    });
  },
});

export const label: Command = defineCommand({
  name: "label",
  summary: "Label an entry.",
  arguments: [
    SESSION,
    { name: "ENTRY", help: "The entry's id." },
    { name: "LABEL", optional: true, help: "The label." },
  ],
  options: { remove: flag("Remove the label.") },
  examples: ['label 5f0c2a91 01JZ8Q9D2M "before the rewrite"'],
  run: (context, args, options) => {
    if ((args.LABEL === undefined) !== (options.remove === true)) {
      throw usageError("label needs either LABEL or --remove", "LABEL");
    }
    return withSession(context, "write", args.SESSION, async (handle) => {
      await handle.label(args.ENTRY, args.LABEL ?? null);
      if (context.json) {
        await context.terminal.printJson({ labels: Object.fromEntries(await handle.labels()) });
      }
    });
  },
});

export const mark: Command = defineCommand({
  name: "mark",
  summary: "Mark a message, or a session, as wrong or as replaced by another.",
  details:
    "What is marked stays where it is, ranks below what holds, and carries the mark in hits, recaps, traces, recalled excerpts and show. REF is a session (k3f9), or a message of it by its number (k3f9#12) on the active path. Without --replaced-by it is wrong.",
  arguments: [{ name: "REF", help: "What does not hold: k3f9 or k3f9#12." }],
  options: {
    reason: option("TEXT", "Why it does not hold."),
    "replaced-by": option("REF", "What holds in its place."),
    actor: option("NAME", "The person on whose word it is marked."),
    undo: flag("Take the mark back."),
  },
  examples: [
    'mark 5f0c2a91#0 --reason "It was another lock" --replaced-by 5f0c2a91#1',
    "mark 5f0c2a91#0 --undo",
  ],
  run: (context, { REF: ref }, { reason, actor, undo, "replaced-by": by }) => {
    if ((reason === undefined) !== (undo === true) || (undo && by !== undefined)) {
      throw usageError("mark needs either --reason or --undo", "--reason");
    }
    return withStore(context, "write", async (tenant) => {
      const { session, entryId } = await findPlace(tenant, ref);
      const what = defined({ entryId, actor });
      if (reason === undefined) await session.unmark(what);
      else {
        const place = by === undefined ? undefined : await findPlace(tenant, by);
        const replacedBy = place?.entryId ?? place?.session.id;
        await session.mark({ ...what, reason, ...defined({ replacedBy }) });
      }
      if (!context.json) return;
      await context.terminal.printJson({ marks: toWire([MARK], await session.marks()) });
    });
  },
});

export const pin: Command = defineCommand({
  name: "pin",
  summary: "Pin an entry: it stays in every context, and is never summarised.",
  arguments: [SESSION, { name: "ENTRY", help: "The entry's id." }],
  options: { off: flag("Remove the pin.") },
  examples: ["pin 5f0c2a91 01JZ8Q9D2M", "pin 5f0c2a91 01JZ8Q9D2M --off"],
  run: (context, args, options) =>
    withSession(context, "write", args.SESSION, async (handle) => {
      if (options.off) await handle.unpin(args.ENTRY);
      else await handle.pin(args.ENTRY);
      const pinned = !options.off;
      if (context.json) await context.terminal.printJson({ entry_id: args.ENTRY, pinned });
    }),
});
