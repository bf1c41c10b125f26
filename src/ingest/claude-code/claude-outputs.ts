/**
 * Outputs of tools that were too long for the transcript.
 *
 * Claude Code writes them to a folder of their session, and a line that names the file and shows its
 * beginning. The line may name any path: only the file's own name is taken from it, and looked for in
 * the folder of the same session.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { ImportedEntry, SourceInput } from "../source.ts";
import { toOutput } from "./claude-blocks.ts";

/** A longer output stays where it is, and the entry shows its beginning. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

const FOLDER = "tool-results";

type Taken = { blocks: readonly Block[] };

export class ClaudeOutputs {
  readonly #files: SourceInput["files"];
  readonly #folder: string;
  /** Which file the output of an entry lies in. */
  readonly #names = new Map<ImportedEntry, string>();

  constructor({ path, files }: Pick<SourceInput, "path" | "files">) {
    this.#files = files;
    this.#folder = folderBeside(path);
  }

  /** To be told of every result of a tool. */
  note(entry: ImportedEntry, record: Fields): void {
    const { toolUseResult: result } = record;
    if (this.#files === undefined || !isPlainObject(result)) return;
    const path = textField(result, "persistedOutputPath");
    if (path === undefined) return;
    const [, name] = /[/\\]tool-results[/\\]([\w.-]+\.(?:txt|json))$/.exec(path) ?? [];
    if (name !== undefined) this.#names.set(entry, name);
  }

  /** The entries in pieces: one whose output lies apart comes alone, with its output. */
  async *fill(entries: readonly ImportedEntry[]): AsyncGenerator<readonly ImportedEntry[]> {
    let given = 0;
    for (let i = 0; i < entries.length && this.#names.size > 0; i++) {
      const entry = entries[i] as ImportedEntry;
      const name = this.#names.get(entry);
      if (name === undefined) continue;
      this.#names.delete(entry);
      yield entries.slice(given, i);
      await this.#put(entry as Taken, name);
      yield [entry];
      given = i + 1;
    }
    yield given === 0 ? entries : entries.slice(given);
  }

  async #put(entry: Taken, name: string): Promise<void> {
    const text = await this.#files?.readText(`${this.#folder}/${name}`, MAX_OUTPUT_BYTES);
    if (text === undefined) return;
    const value = name.endsWith(".json") ? parseJson(text) : undefined;
    const output = Array.isArray(value) ? toOutput(value) : text;
    entry.blocks = entry.blocks.map((block) =>
      block.type === "tool_result" ? { ...block, output } : block,
    );
  }
}

/** From the transcript's folder. Sub-agents' files lie in the folder of their session. */
function folderBeside(path: string): string {
  const names = path.split(/[/\\]/);
  const at = names.lastIndexOf("subagents");
  if (at > 0) return `${"../".repeat(names.length - 1 - at)}${FOLDER}`;
  const name = (names.at(-1) ?? "").replace(/\.jsonl(\.(?:gz|zst))?$/, "");
  return `${name}/${FOLDER}`;
}
