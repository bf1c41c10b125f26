/**
 * Corpora that need bounds on memory: lines and messages of many megabytes, conversations in one
 * JSON document, sessions of very many lines, messages without tools, text with few repeated words,
 * outputs beside their transcripts. A few hundred megabytes each, deterministic.
 */

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { zstdCompressSync } from "node:zlib";
import { randomNumbers } from "./synthetic.ts";

export interface HardCorpus {
  readonly name: string;
  /** Writes it below `root`. */
  write(root: string): Promise<void>;
}

const MB = 1_000_000;

export const HARD_CORPORA: readonly HardCorpus[] = [
  { name: "lines of 60 MB", write: (root) => longLines(root, 60 * MB) },
  { name: "lines of just under a megabyte", write: nearlyLongLines },
  { name: "packed files", write: packedFiles },
  { name: "one session of 600,000 lines", write: manyLines },
  { name: "talk alone", write: (root) => talk(root, 20_000, commonWord) },
  { name: "words that stand once", write: (root) => talk(root, 10_000, rareWord) },
  { name: "documents of 60 MB", write: documents },
  { name: "outputs beside transcripts", write: outputsBeside },
];

interface Said {
  readonly role: "user" | "assistant";
  readonly content: unknown;
  /** The name of a file beside the transcript that holds the output. */
  readonly file?: string;
}

/** Writes a transcript of Claude Code. Gives its path without the ending, which is its folder's. */
async function transcript(root: string, number: number, said: Iterable<Said>): Promise<string> {
  const sessionId = uuid(number, 0);
  const project = join(root, ".claude/projects/-srv-project");
  await mkdir(project, { recursive: true });
  const out = createWriteStream(join(project, `${sessionId}.jsonl`));
  let i = 0;
  for (const { role, content, file } of said) {
    const path = `/home/.claude/projects/-srv-project/${sessionId}/tool-results/${file}`;
    await put(out, {
      type: role,
      uuid: uuid(number, i + 1),
      parentUuid: i === 0 ? null : uuid(number, i),
      sessionId,
      cwd: "/srv/project",
      version: "2.0.0",
      isSidechain: false,
      timestamp: "2026-05-04T10:00:00.000Z",
      message: { role, content },
      ...(file === undefined ? {} : { toolUseResult: { persistedOutputPath: path } }),
    });
    i++;
  }
  out.end();
  await finished(out);
  return join(project, sessionId);
}

async function put(out: WriteStream, record: unknown): Promise<void> {
  if (out.write(`${JSON.stringify(record)}\n`)) return;
  await once(out, "drain");
}

function uuid(session: number, line: number): string {
  const digits = (count: number, length: number) => String(count).padStart(length, "0");
  return `${digits(session, 8)}-0000-4000-8000-${digits(line, 12)}`;
}

async function longLines(root: string, length: number): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await transcript(root, i, [BEGIN, toolResult("a", words(length, commonWord)), END]);
  }
}

/** Within the length limits, so that none is cut. */
async function nearlyLongLines(root: string): Promise<void> {
  const content = words(950_000, commonWord);
  function* said(): Generator<Said> {
    for (let i = 0; i < 4_000; i++) yield { role: "user", content: `message ${i}` };
    for (let i = 0; i < 300; i++) yield { role: "assistant", content };
  }
  await transcript(root, 1, said());
}

/** Codex's rollouts of a few kilobytes, with lines of 12 MB. */
async function packedFiles(root: string): Promise<void> {
  const folder = join(root, ".codex/sessions/2026/05/04");
  await mkdir(folder, { recursive: true });
  const content = [{ type: "input_text", text: "word ".repeat(2.4 * MB) }];
  const item = { type: "response_item", payload: { type: "message", role: "user", content } };
  for (let i = 0; i < 40; i++) {
    const id = uuid(i, 0);
    const meta = { type: "session_meta", payload: { id, cwd: "/srv/project", cli_version: "1.0" } };
    const timestamp = "2026-05-04T10:00:00.000Z";
    const lines = [meta, item, item, item].map((line) => JSON.stringify({ timestamp, ...line }));
    const name = `rollout-2026-05-04T10-00-00-${id}.jsonl.zst`;
    await writeFile(join(folder, name), zstdCompressSync(`${lines.join("\n")}\n`));
  }
}

async function manyLines(root: string): Promise<void> {
  function* said(): Generator<Said> {
    for (let i = 0; i < 600_000; i++) yield { role: "user", content: `message ${i}` };
  }
  await transcript(root, 1, said());
}

async function talk(root: string, messages: number, word: Word): Promise<void> {
  for (let session = 0; session < messages / 1_000; session++) {
    const random = randomNumbers(session);
    function* said(): Generator<Said> {
      for (let i = 0; i < 1_000; i++) {
        yield { role: i % 2 === 0 ? "user" : "assistant", content: words(10_000, word, random) };
      }
    }
    await transcript(root, session, said());
  }
}

async function documents(root: string): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const folder = join(root, ".cline/data/tasks", String(1_700_000_000_000 + i));
    await mkdir(folder, { recursive: true });
    const random = randomNumbers(i);
    const messages = Array.from({ length: 6_000 }, (_, number) => ({
      role: number % 2 === 0 ? "user" : "assistant",
      content: [{ type: "text", text: words(10_000, commonWord, random) }],
    }));
    await writeFile(join(folder, "api_conversation_history.json"), JSON.stringify(messages));
  }
}

async function outputsBeside(root: string): Promise<void> {
  const names = ["a", "b", "c"];
  const text = words(4 * MB, commonWord);
  for (let i = 0; i < 60; i++) {
    const results = names.map((name) => ({
      ...toolResult(name, "<persisted-output>"),
      file: `${name}.txt`,
    }));
    const folder = join(await transcript(root, i, [BEGIN, ...results, END]), "tool-results");
    await mkdir(folder, { recursive: true });
    for (const name of names) await writeFile(join(folder, `${name}.txt`), text);
  }
}

const BEGIN: Said = { role: "user", content: "begin" };
const END: Said = { role: "assistant", content: "end" };

function toolResult(id: string, content: string): Said {
  return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] };
}

type Word = (random: () => number) => string;

function commonWord(random: () => number): string {
  return `w${Math.floor(random() ** 3 * 20_000).toString(36)}`;
}

function rareWord(random: () => number): string {
  return Math.floor(random() * 36 ** 9).toString(36);
}

/** Text of this length, repeated from a short piece. */
function words(length: number, word: Word, random: () => number = randomNumbers(1)): string {
  const piece: string[] = [];
  for (let size = 0; size < Math.min(length, MB); size += (piece.at(-1)?.length ?? 0) + 1) {
    piece.push(word(random));
  }
  const text = piece.join(" ");
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}
