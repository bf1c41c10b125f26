/** An entry as a page shows it: a heading and its blocks. */

import { type Block, inputTextOf } from "../../model/block.ts";
import { type Entry, kindRules } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import type { Session } from "../../model/session.ts";
import type { LossLog } from "../losses.ts";

/** A piece of an entry, as a page shows it. */
export type PagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "code"; readonly title: string; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly data: string }
  | { readonly type: "note"; readonly text: string };

export interface PageEntry {
  readonly id: string;
  /** For styling: the role, or else the kind. */
  readonly className: string;
  readonly heading: string;
  readonly time: string;
  readonly parts: readonly PagePart[];
}

/** Undefined for entries that people are not shown. */
export function toPageEntry(
  entry: Entry,
  losses: LossLog,
  showsImages: boolean,
): PageEntry | undefined {
  const data = isPlainObject(entry.data) ? entry.data : {};
  const hidden = entry.kind === "custom_message" && data["display"] === false;
  if (!kindRules(entry.kind).shown || hidden) {
    losses.add(hidden ? "hidden messages" : "entries that are not shown");
    return undefined;
  }
  const marks = entry.status === "committed" ? [] : [entry.status];
  return {
    id: entry.id,
    className: entry.role ?? entry.kind,
    heading: [titleOf(entry), ...(entry.actor === null ? [] : [entry.actor]), ...marks].join(" · "),
    time: new Date(entry.createdAt).toISOString(),
    parts:
      entry.blocks.length > 0
        ? entry.blocks.flatMap((block) => toParts(block, losses, showsImages))
        : noteOf(entry, data),
  };
}

/** The lines under the title of a page; a share has neither id nor owner. */
export function aboutSession(session: Session): readonly (readonly [string, string])[] {
  const { agent, owner, startedAt, updatedAt, origin } = session;
  return [
    ...(session.id === "" ? [] : [["Session", session.id] as const]),
    ["Agent", agent],
    ...(owner === "" ? [] : [["Owner", owner] as const]),
    ["Started", new Date(startedAt).toISOString()],
    ["Last message", new Date(updatedAt).toISOString()],
    ...(origin.projectPath === undefined ? [] : [["Project", origin.projectPath] as const]),
  ];
}

const TITLES: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
  compaction: "Summary of what came before",
  branch_summary: "Summary of another branch",
  summary: "Summary",
  custom_message: "Added to the conversation",
  label: "Label",
  model_change: "Model",
  thinking_level_change: "Thinking level",
};

function titleOf(entry: Entry): string {
  return TITLES[entry.role ?? entry.kind] ?? entry.kind;
}

function noteOf(entry: Entry, data: Readonly<Record<string, unknown>>): PagePart[] {
  if (entry.kind === "label") {
    const { label } = data;
    return [{ type: "note", text: typeof label === "string" ? label : "(taken away)" }];
  }
  const values = Object.values(data).filter((value) => typeof value === "string");
  return values.length === 0 ? [] : [{ type: "note", text: values.join(" ") }];
}

function toParts(block: Block, losses: LossLog, showsImages: boolean): PagePart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking":
      if (block.signature !== undefined) losses.add("signatures");
      return [{ type: "thinking", text: block.text }];
    case "tool_use":
      return [{ type: "code", title: `Calls ${block.name}`, text: inputTextOf(block) }];
    case "tool_result": {
      const { toolName, isError, output } = block;
      const title = `${isError ? "Error" : "Result"}${toolName ? ` of ${toolName}` : ""}`;
      if (typeof output === "string") return [{ type: "code", title, text: output }];
      return output.flatMap((inner) =>
        inner.type === "text"
          ? [{ type: "code" as const, title, text: inner.text }]
          : toParts(inner, losses, showsImages),
      );
    }
    case "image": {
      const { data, mediaType = "image/png", url } = block;
      if (showsImages && data !== undefined && isPicture(mediaType, data)) {
        return [{ type: "image", mediaType, data }];
      }
      losses.add("images");
      return [{ type: "note", text: url === undefined ? "(image)" : `(image: ${url})` }];
    }
    case "opaque":
      losses.add("blocks of other providers");
      return [{ type: "note", text: "(something that only its provider can read)" }];
  }
}

/** Only image types that cannot run code: an SVG may hold a script. */
function isPicture(mediaType: string, data: string): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
