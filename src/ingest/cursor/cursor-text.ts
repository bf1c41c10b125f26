/**
 * Transcripts of Cursor as plain text: `user:` and `assistant:` on lines of their own, and within an
 * answer `[Thinking]`, `[Tool call] name` and `[Tool result] name`, whose bodies are indented.
 */

import type { Block } from "../../model/block.ts";
import { toMessageDrafts } from "../anthropic-content.ts";
import { toImportedEntry } from "../drafts.ts";
import type { Line } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import { FORMAT, unwrapQuery } from "./cursor-query.ts";

export async function* readText(
  lines: AsyncIterable<Line>,
  session: Omit<ImportedSession, "entries" | "problems">,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  yield { ...session, entries: readEntries(lines, problems), problems };
}

async function* readEntries(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const names = new Map<string, string>();
  let role: "user" | "assistant" | undefined;
  let body: string[] = [];
  let number = 0;
  function* flush(): Generator<ImportedEntry> {
    if (role === undefined) return;
    const messages = role === "user" ? [toUser(body)] : splitAnswer(body, `message-${number}`);
    for (const [i, { blocks, fields, isResult }] of messages.entries()) {
      if (blocks.length === 0) continue;
      const sourceId = i === 0 ? `message-${number}` : `message-${number}.${i}`;
      const by = isResult ? "tool" : role;
      const actor = by === "assistant" ? FORMAT : null;
      const draft = {
        sourceId,
        id: null,
        kind: "message",
        role: by,
        actor,
        blocks,
        fields,
      } as const;
      for (const part of toMessageDrafts(draft, names)) yield toImportedEntry(FORMAT, part);
    }
    number++;
  }
  for await (const { text, damage, number: line } of lines) {
    if (damage === "too_long") problems.add("line_too_long", "the line was left out", line);
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", line);
    }
    const [, next] = /^(user|assistant):\s*$/.exec(text) ?? [];
    if (next === undefined) {
      if (role === undefined && text.trim() !== "") {
        problems.add("unexpected", "text before the first message was left out", line);
      }
      body.push(text);
      continue;
    }
    yield* flush();
    role = next as "user" | "assistant";
    body = [];
  }
  yield* flush();
}

interface Said {
  readonly blocks: Block[];
  readonly fields: { readonly context?: string };
  readonly isResult: boolean;
}

function toUser(body: readonly string[]): Said {
  const text = body.join("\n").trim();
  const { blocks, context } = unwrapQuery(text === "" ? [] : [{ type: "text", text }]);
  return { blocks, fields: context === "" ? {} : { context }, isResult: false };
}

/** An answer, cut where results stand in it. */
function splitAnswer(body: readonly string[], id: string): Said[] {
  const said: Said[] = [];
  const calls: { readonly id: string; readonly name: string }[] = [];
  const add = (block: Block, isResult: boolean) => {
    const last = said.at(-1);
    if (last?.isResult === isResult) last.blocks.push(block);
    else said.push({ blocks: [block], fields: {}, isResult });
  };
  for (const { mark, name, text } of splitMarks(body)) {
    if (mark === "Tool call") {
      const call = { id: `${id}/call-${calls.length}`, name };
      calls.push(call);
      add({ type: "tool_use", ...call, input: toInput(text) }, false);
    } else if (mark === "Tool result") {
      // Results do not name their call: the first of that name that has none.
      const index = calls.findIndex((call) => call.name === name);
      const toolUseId = calls[index]?.id ?? `${id}/unknown`;
      if (index >= 0) calls[index] = { id: toolUseId, name: "" };
      const output = text;
      add({ type: "tool_result", toolUseId, toolName: name, output, isError: false }, true);
    } else if (text !== "") {
      add({ type: mark === "Thinking" ? "thinking" : "text", text }, false);
    }
  }
  return said;
}

/** Pieces of an answer: a mark with its indented body, or text between them. */
function splitMarks(body: readonly string[]): { mark: string; name: string; text: string }[] {
  const pieces: { mark: string; name: string; lines: string[] }[] = [];
  for (const line of body) {
    const [, mark, name = ""] =
      /^\[(Thinking|Tool call|Tool result)\]\s*(.*?)\s*$/.exec(line) ?? [];
    const last = pieces.at(-1);
    if (mark === "Thinking") pieces.push({ mark, name: "", lines: [name] });
    else if (mark !== undefined) pieces.push({ mark, name, lines: [] });
    else if (last !== undefined && (last.mark === "" || line === "" || /^\s/.test(line))) {
      last.lines.push(line);
    } else pieces.push({ mark: "", name: "", lines: [line] });
  }
  return pieces.map(({ mark, name, lines }) => ({ mark, name, text: dedent(lines).trim() }));
}

function dedent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const least = Math.min(...indents);
  return lines.map((line) => line.slice(Number.isFinite(least) ? least : 0)).join("\n");
}

/** Arguments as JSON, or `name: value` and `name=value`; anything else is one text. */
function toInput(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    // Not JSON: the older way of writing arguments.
  }
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => /^\s*([\w-]+)\s*[:=]\s?(.*)$/.exec(line));
  return pairs.every((pair) => pair !== null)
    ? JSON.stringify(Object.fromEntries(pairs.map((pair) => [pair[1], pair[2]])))
    : JSON.stringify({ text });
}
