/**
 * Synthetic transcripts in agents' line formats, deterministic by seed.
 *
 * Most bytes of a real transcript are tool inputs and outputs, often twice, and the envelope of
 * each line. Conversation text, which is indexed, is a sixth here: more than in most real ones.
 */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { finished } from "node:stream/promises";
import { ClaudeCodeWriter } from "./transcripts/claude-code.ts";
import { CodexWriter } from "./transcripts/codex.ts";
import { PiWriter } from "./transcripts/pi.ts";
import { Story } from "./transcripts/story.ts";

export const FORMATS = ["claude-code", "codex", "pi"] as const;
export type Format = (typeof FORMATS)[number];

export interface Corpus {
  readonly files: number;
  readonly bytes: number;
  /** Bytes of conversation text; of incomplete files as if they were complete. */
  readonly spokenBytes: number;
}

/**
 * The amount of text: formats with more overhead have sessions with more of it, for the same share.
 */
const TALK: Readonly<Record<Format, number>> = { "claude-code": 3.9, codex: 3.2, pi: 1.25 };

/** About the size of an exchange. A shorter file ends inside one. */
const EXCHANGE_BYTES = 100_000;

/** Writes files of about `fileBytes` each below `root`, until there are `files`. */
export async function writeCorpus(
  root: string,
  format: Format,
  files: number,
  fileBytes: number,
): Promise<Corpus> {
  let bytes = 0;
  let spokenBytes = 0;
  const isShort = fileBytes < EXCHANGE_BYTES;
  for (let i = 0; i < files; i++) {
    const story = new Story(i, TALK[format]);
    const writer = writerOf(format, story, i);
    const path = join(root, pathOf(format, i, story.id));
    await mkdir(dirname(path), { recursive: true });
    const out = createWriteStream(path);
    let length = 0;
    while (length < fileBytes) {
      let text = "";
      for (const line of writer.lines()) {
        text += `${JSON.stringify(line)}\n`;
        if (isShort && text.length >= fileBytes) break;
      }
      length += Buffer.byteLength(text);
      if (!out.write(text)) await once(out, "drain");
    }
    out.end();
    await finished(out);
    bytes += length;
    spokenBytes += story.spoken;
  }
  return { files, bytes, spokenBytes };
}

interface SessionWriter {
  /** An exchange: a request, tool calls with results, and the answer. */
  lines(): Iterable<object>;
}

function writerOf(format: Format, story: Story, number: number): SessionWriter {
  switch (format) {
    case "claude-code":
      return new ClaudeCodeWriter(story, number);
    case "codex":
      return new CodexWriter(story, number);
    case "pi":
      return new PiWriter(story);
  }
}

function pathOf(format: Format, i: number, id: string): string {
  const day = String(1 + (i % 28)).padStart(2, "0");
  switch (format) {
    case "claude-code":
      return `.claude/projects/-srv-project-${i % 50}/${id}.jsonl`;
    case "codex":
      return `.codex/sessions/2026/05/${day}/rollout-2026-05-${day}T10-00-00-${id}.jsonl`;
    case "pi":
      return `.pi/agent/sessions/--srv-project-${i % 50}--/2026-05-${day}_${id}.jsonl`;
  }
}
