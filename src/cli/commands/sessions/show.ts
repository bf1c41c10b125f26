import { maskEntry, maskSession, maskText } from "../../../api/mask.ts";
import { toWireSession } from "../../../api/session.ts";
import { toWire } from "../../../api/shape.ts";
import { markNote } from "../../../api/text/later.ts";
import type { SessionApi } from "../../../engine/interfaces.ts";
import { defined } from "../../../model/defined.ts";
import { ENTRY, type Entry, kindRules } from "../../../model/entry.ts";
import { DEFAULT_PAGE, MAX_PAGE } from "../../../model/limits.ts";
import type { Session } from "../../../model/session.ts";
import {
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  option,
  SESSION,
  usageError,
} from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { placeOf } from "../../place-of.ts";
import {
  type EntryStyle,
  formatEntry,
  formatSession,
  formatTreeLines,
} from "../../print-session.ts";
import { commandLine } from "../../program.ts";
import { withSession } from "../../store.ts";
import type { Terminal } from "../../terminal.ts";
import { toInput } from "../input-options.ts";

export const show: Command = defineCommand({
  name: "show",
  aliases: ["list_messages", "get_session_meta"],
  summary: "Show a session: its fields and a page of its messages.",
  details:
    "Messages run along the active path, or along the path to --leaf. Tool calls are folded to a line unless --tools is given, and long texts are cut unless --full is. Secrets are masked unless --raw is.",
  arguments: [SESSION],
  options: {
    leaf: option("ENTRY", "Show the path to this entry."),
    around: option("MESSAGE", "Put this message in the middle: its number, or its entry's id."),
    offset: option("N", "Start at this message, counted from 0."),
    limit: option("N", "Messages on a page: at most 500, 50 if left out."),
    tree: flag("Show every entry of every branch instead."),
    after: option("ENTRY", "With --tree: go on after this entry."),
    tools: flag("Show inputs and outputs of tools, not only a line."),
    full: flag("Show everything in full."),
    raw: flag("Show secrets too."),
  },
  examples: ["show 5f0c2a91 --limit 10", "show 5f0c2a91#12", "show 5f0c2a91 --tree"],
  run: (context, args, { around, ...given }) => {
    const { id, number = around } = placeOf(args.SESSION);
    const options = { ...given, ...middleOf(number, given) };
    return withSession(context, "read", id, async (handle) => {
      const raw = options.raw ?? false;
      const meta = await handle.meta();
      const session = raw ? meta : maskSession(meta);
      const input = toInput("listMessages", options);
      const full = options.full ?? false;
      const tools = full || (options.tools ?? false);
      if (options.tree) {
        for (const name of ["leaf", "around", "offset"] as const) {
          if (options[name] !== undefined)
            throw usageError(`--tree shows every branch, so it takes no --${name}`, `--${name}`);
        }
        const { limit = MAX_PAGE } = input;
        return showTree(context, handle, session, { after: options.after, limit, full, raw });
      }
      if (options.after !== undefined) {
        throw usageError("--after needs --tree; pages of messages take --offset", "--after");
      }
      const page = await handle.listMessages({ ...input, preview: !full });
      const messages = raw ? page.messages : page.messages.map(maskEntry);
      if (context.json)
        return context.terminal.printJson({
          session: toWireSession(session),
          messages: toWire([ENTRY], messages),
          offset: page.offset,
          total: page.total,
        });
      const { terminal } = context;
      const marks = await marksOf(handle, raw);
      const style = { full, tools, labels: await handle.labels(), marks, leaf: session.leaf };
      await terminal.print(formatSession(session, terminal, marks.get(null)));
      for (const message of messages) {
        await terminal.print();
        for (const line of formatEntry(message, terminal, style)) await terminal.print(line);
      }
      const next = page.offset + page.messages.length;
      if (next < page.total) {
        const words = `show ${session.shortId} --offset ${next}${leafOption(options.leaf)}`;
        terminal.note(`${page.total - next} more: ${commandLine(context, words)}`);
      }
    });
  },
});

/** `--around` by the number that hits, traces and blame print. */
function middleOf(
  around: string | undefined,
  { offset, limit = String(DEFAULT_PAGE) }: { readonly offset?: string; readonly limit?: string },
): { readonly around?: string; readonly offset?: string } {
  const number = /^#?(\d{1,15})$/.exec(around ?? "")?.[1];
  if (number === undefined) return defined({ around });
  if (offset !== undefined)
    throw usageError("--around and --offset exclude each other", "--around");
  const before = Math.floor(Number(limit) / 2) || 0;
  return { offset: String(Math.max(0, Number(number) - before)) };
}

/** What no longer holds, by the marked entry; null: the session. */
async function marksOf(
  handle: SessionApi,
  raw: boolean,
): Promise<ReadonlyMap<string | null, string>> {
  const notes = (await handle.marks()).map((mark) => {
    const note = markNote(mark, handle.id);
    return [mark.entryId, raw ? note : maskText(note)] as const;
  });
  return new Map(notes);
}

async function showTree(
  context: Context,
  handle: SessionApi,
  session: Session,
  options: { after: string | undefined; limit: number; full: boolean; raw: boolean },
): Promise<ExitCode> {
  const { terminal } = context;
  const page = await handle.listEntries({
    tree: true,
    limit: options.limit,
    preview: !options.full,
    ...defined({ after: options.after }),
  });
  const entries = options.raw ? page.entries : page.entries.map(maskEntry);
  if (context.json)
    return terminal.printJson({
      session: toWireSession(session),
      entries: toWire([ENTRY], entries),
      next: page.next ?? null,
    });
  const [labels, marks] = [await handle.labels(), await marksOf(handle, options.raw)];
  const style = { full: options.full, labels, marks, leaf: session.leaf };
  await terminal.print(formatSession(session, terminal, marks.get(null)));
  await terminal.print();
  // Labels are beside their entries; extension states are not for people.
  const shown = entries.filter((entry) => kindRules(entry.kind).shown && entry.kind !== "label");
  for (const line of formatTree(shown, terminal, style)) await terminal.print(line);
  if (page.next !== undefined) {
    terminal.note(
      `More: ${commandLine(context, `show ${session.shortId} --tree --after ${page.next}`)}`,
    );
  }
  return EXIT.ok;
}

function leafOption(leaf: string | undefined): string {
  return leaf === undefined ? "" : ` --leaf ${leaf}`;
}

/** Prints a session's tree: a run of entries is flush, each further branch is indented. */
function formatTree(entries: readonly Entry[], terminal: Terminal, style: EntryStyle): string[] {
  const known = new Set(entries.map((entry) => entry.id));
  const children = new Map<string | null, Entry[]>();
  for (const entry of entries) {
    // On a later page the parent may be on an earlier one: then the entry starts a new run.
    const parent = known.has(entry.parentId ?? "") ? entry.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  const lines: string[] = [];
  // An explicit stack: a conversation can be deeper than the call stack.
  const todo = (children.get(null) ?? []).map((entry) => ({ entry, level: 0 })).reverse();
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { entry, level } = next;
    const indent = "  ".repeat(level);
    const room = terminal.columns - indent.length;
    lines.push(...formatTreeLines(entry, terminal, style, room).map((line) => indent + line));
    const [first, ...rest] = children.get(entry.id) ?? [];
    // The first child continues in line and is printed last, after the branches beside it.
    if (first !== undefined) todo.push({ entry: first, level });
    for (const branch of rest.reverse()) todo.push({ entry: branch, level: level + 1 });
  }
  return lines;
}

export const history: Command = defineCommand({
  name: "history",
  summary: "Show the newest messages of a session's active path, in order.",
  details: "Secrets are masked unless --raw is given.",
  arguments: [SESSION],
  options: {
    limit: option("N", "Messages: at most 500, 50 if left out."),
    before: option("ENTRY", "Only messages before this entry."),
    summaries: flag("Show compactions before the first entry that they kept."),
    full: flag("Show everything in full."),
    raw: flag("Show secrets too."),
  },
  examples: ["history 5f0c2a91 --limit 5"],
  run: (context, args, options) =>
    withSession(context, "read", args.SESSION, async (handle) => {
      const newest = await handle.history({
        ...toInput("history", options),
        includeSummaries: options.summaries ?? false,
      });
      const messages = options.raw ? newest : newest.map(maskEntry);
      const { terminal } = context;
      if (context.json) return terminal.printJson({ messages: toWire([ENTRY], messages) });
      const marks = await marksOf(handle, options.raw ?? false);
      const style = { full: options.full ?? false, labels: await handle.labels(), marks };
      for (const message of messages) {
        for (const line of formatEntry(message, terminal, style)) await terminal.print(line);
        await terminal.print();
      }
    }),
});
