/** Reads our own fixtures, and prints a line per entry. */

import { splitLines } from "../../src/ingest/lines.ts";
import type { ImportProblem } from "../../src/ingest/problems.ts";
import type {
  FileAccess,
  ImportedEntry,
  ImportedSession,
  TranscriptSource,
} from "../../src/ingest/source.ts";
import { textOf } from "../../src/model/block.ts";
import type { JsonObject } from "../../src/model/json.ts";

export interface Reading {
  readonly sessions: readonly {
    readonly session: ImportedSession;
    readonly entries: readonly ImportedEntry[];
    readonly leaf: string | null | undefined;
  }[];
  readonly problems: readonly ImportProblem[];
  readonly ignored: ReadonlyMap<string, number>;
  readonly state: JsonObject | undefined;
}

export interface ReadingOptions {
  readonly path?: string;
  readonly resume?: JsonObject;
  /** The number of lines before `content`. */
  readonly linesBefore?: number;
  /** Whether it can be read again from its beginning, like a file. */
  readonly isRepeatable?: boolean;
  /** The files beside the transcript, by their names. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** Reads `content` with `source`, without recognising the format. */
export async function readWith(
  source: TranscriptSource,
  content: string | Uint8Array,
  options: ReadingOptions = {},
): Promise<Reading> {
  const { path = "", resume, linesBefore = 0, files } = options;
  const bytes = [Buffer.from(content as string)];
  const transcript = source.read({
    path,
    lines: splitLines(bytes, { start: { lines: linesBefore, offset: 0 } }),
    ...(options.isRepeatable ? { bytes, isRepeatable: true } : {}),
    ...(resume === undefined ? {} : { resume }),
    ...(files === undefined ? {} : { files: filesOf(files) }),
  });
  const sessions = [];
  for await (const session of transcript.sessions) {
    const entries: ImportedEntry[] = [];
    for await (const entry of session.entries) entries.push(entry);
    sessions.push({ session, entries, leaf: session.leaf?.() });
  }
  const { first: problems, ignored } = transcript.problems;
  return { sessions, problems, ignored, state: transcript.state?.() };
}

/** `id<parent author: content`; blocks other than text are shown by their type. */
export function outline(entries: readonly ImportedEntry[]): string[] {
  return entries.map(({ sourceId, parentSourceId, kind, role, blocks }) => {
    const parent = parentSourceId === undefined ? "" : `<${parentSourceId}`;
    const others = blocks.flatMap((block) => {
      if (block.type === "text") return [];
      if (block.type === "tool_use") return [`[${block.name}]`];
      if (block.type === "tool_result") return [`[${block.isError ? "failed" : "result"}]`];
      return [`[${block.type}]`];
    });
    const what = [...others, textOf(blocks)].filter((part) => part !== "").join(" ");
    return `${sourceId}${parent} ${role ?? kind}: ${what}`.trim();
  });
}

/** Reads line by line, resuming after each line. */
export async function readInSteps(
  source: TranscriptSource,
  content: string,
  options: ReadingOptions = {},
): Promise<ImportedEntry[]> {
  const found: ImportedEntry[] = [];
  let resume: JsonObject | undefined;
  for (const [i, line] of content.split(/(?<=\n)/).entries()) {
    const step = await readWith(source, line, {
      ...options,
      linesBefore: i,
      ...(resume === undefined ? {} : { resume: JSON.parse(JSON.stringify(resume)) }),
    });
    resume = step.state;
    found.push(...step.sessions.flatMap(({ entries }) => entries));
  }
  return found;
}

function filesOf(files: Readonly<Record<string, string | Uint8Array>>): FileAccess {
  const clean = (path: string) => path.replace(/^\.\//, "");
  const read = async (path: string, maxBytes: number) => {
    const content = files[clean(path)];
    return content !== undefined && content.length <= maxBytes ? Buffer.from(content) : undefined;
  };
  return {
    readText: async (path, maxBytes) => (await read(path, maxBytes))?.toString("utf8"),
    readRecord: async (path) => {
      const bytes = await read(path, Number.POSITIVE_INFINITY);
      return bytes === undefined ? undefined : { text: bytes.toString("utf8") };
    },
    readBytes: read,
    hold: async () => () => undefined,
    modifiedAt: (path) => Promise.resolve(files[clean(path)] === undefined ? undefined : 0),
    list: (path) => {
      const below = path === "." || path === "" ? "" : `${clean(path)}/`;
      const names = Object.keys(files)
        .filter((name) => name.startsWith(below))
        .map((name) => name.slice(below.length).split("/")[0] ?? "");
      return Promise.resolve([...new Set(names)].sort());
    },
  };
}
