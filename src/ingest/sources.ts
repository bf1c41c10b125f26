/** The formats that can be read. Adding one means its folder and a line here. */

import { BackscrollError } from "../model/errors.ts";
import { AIDER } from "./aider/aider.ts";
import { CHATGPT } from "./chatgpt/chatgpt.ts";
import { CLAUDE_AI } from "./claude-ai/claude-ai.ts";
import { CLAUDE_CODE } from "./claude-code/claude-code.ts";
import { CLAW_CODE } from "./claw-code/claw-code.ts";
import { CLINE, ROO_CODE } from "./cline/cline.ts";
import { CODEX } from "./codex/codex.ts";
import { COPILOT_CLI } from "./copilot-cli/copilot-cli.ts";
import { CRABTALK } from "./crabtalk/crabtalk.ts";
import { CURSOR, CURSOR_EDITOR } from "./cursor/cursor.ts";
import { GEMINI_CLI } from "./gemini-cli/gemini-cli.ts";
import { type Line, splitLines } from "./lines.ts";
import { OPENCLAW } from "./openclaw/openclaw.ts";
import { OPENCLAW_DATABASE } from "./openclaw/openclaw-database.ts";
import { OPENCODE, OPENCODE_FILES } from "./opencode/opencode.ts";
import { PI } from "./pi/pi.ts";
import { QWEN_CODE } from "./qwen-code/qwen-code.ts";
import type { ImportedTranscript, TranscriptSource } from "./source.ts";

/** The first that recognises a file reads it: claw-code's headers are less particular than Codex's. */
export const SOURCES: readonly TranscriptSource[] = [
  CLAUDE_CODE,
  CODEX,
  CLAW_CODE,
  PI,
  COPILOT_CLI,
  GEMINI_CLI,
  OPENCODE,
  OPENCODE_FILES,
  CURSOR,
  CURSOR_EDITOR,
  CLINE,
  ROO_CODE,
  AIDER,
  CHATGPT,
  CLAUDE_AI,
  OPENCLAW,
  OPENCLAW_DATABASE,
  CRABTALK,
  QWEN_CODE,
];

/** How much of a file is looked at to know its format. */
const HEAD_BYTES = 64 * 1024;

export interface ReadTranscriptInput {
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Where the bytes come from; empty for what has no path. */
  readonly path?: string;
  /** The format's name; found by the content if left out. */
  readonly source?: string;
  /** Looks at the lines before the reader does. */
  readonly prepare?: (lines: AsyncIterable<Line>) => AsyncIterable<Line>;
}

/** Recognises a transcript and reads it. `unknown_format` if it is none, or there is no such format. */
export async function readTranscript(
  input: ReadTranscriptInput,
): Promise<ImportedTranscript & { readonly source: string }> {
  const { path = "" } = input;
  const chunks = iterate(input.bytes);
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < HEAD_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    // A copy: whoever reads the file may fill the same memory again.
    head.push(Uint8Array.from(next.value));
    length += next.value.length;
  }
  const source = findSource(Buffer.concat(head), path, input.source);
  const all = chain(head, chunks);
  const split = splitLines(all);
  const lines = input.prepare?.(split) ?? split;
  return { ...source.read({ path, lines, bytes: all }), source: source.name };
}

function findSource(head: Uint8Array, path: string, name: string | undefined): TranscriptSource {
  const known = SOURCES.map((source) => source.name).join(", ");
  if (name !== undefined) {
    const named = SOURCES.find((source) => source.name === name);
    if (named !== undefined) return named;
    throw unknownFormat(`there is no format ${name}; known are ${known}`, path);
  }
  const found = recogniseSource(head.subarray(0, HEAD_BYTES), path);
  if (found !== undefined) return found;
  const what = path === "" ? "the input" : path;
  const why = head.length === 0 ? "is empty" : "is no transcript of a known format";
  throw unknownFormat(`${what} ${why}; known are ${known}`, path);
}

/** The format of a file that begins with `head`; `first` is asked before the others. */
export function recogniseSource(
  head: Uint8Array,
  path: string,
  sources: readonly TranscriptSource[] = SOURCES,
  first?: TranscriptSource,
): TranscriptSource | undefined {
  if (first?.recognise(head, path)) return first;
  return sources.find((source) => source !== first && source.recognise(head, path));
}

function unknownFormat(message: string, file: string): BackscrollError {
  return new BackscrollError("unknown_format", message, { details: { file } });
}

async function* iterate(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* bytes;
}

async function* chain(
  head: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head;
  yield* rest;
}
