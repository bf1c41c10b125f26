/**
 * Tool outputs that were too long for the transcript.
 *
 * Claude Code writes them to a folder of their session, and a line that names the file and shows
 * its head. The line may name any path: only the file's own name is used, within the folder of the
 * same session.
 */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { fileName } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, SourceInput } from "../source.ts";
import { toOutput } from "./claude-lines.ts";
import { agentPathOf } from "./claude-session.ts";

/** A longer output is not read, and the entry shows its head. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

const FOLDER = "tool-results";

/** The prefix of a placeholder of a longer output. */
const MARK = "<persisted-output>";

interface Named {
  readonly file: string;
  readonly line: number;
}

export class ClaudeOutputs {
  readonly #files: SourceInput["files"];
  readonly #folder: string;
  /** The output file of each entry. */
  readonly #names = new Map<ImportedEntry, Named>();
  readonly #problems: ProblemLog;

  constructor({ path, files }: Pick<SourceInput, "path" | "files">, problems: ProblemLog) {
    this.#problems = problems;
    this.#files = files;
    this.#folder = folderBeside(path);
  }

  /** To be called with every tool result. */
  note(entry: ImportedEntry, record: Fields, line: number): void {
    const { toolUseResult: result } = record;
    if (this.#files === undefined || !isPlainObject(result)) return;
    const path = textField(result, "persistedOutputPath");
    if (path === undefined) return;
    const [, file] = /[/\\]tool-results[/\\]([\w.-]+\.(?:txt|json))$/.exec(path) ?? [];
    if (file !== undefined) this.#names.set(entry, { file, line });
    else this.#missed(entry, "is outside of the folder of outputs", { file: fileName(path), line });
  }

  /** The entries in batches: one with an external output comes alone, with its output. */
  async *fill(entries: readonly ImportedEntry[]): AsyncGenerator<readonly ImportedEntry[]> {
    let given = 0;
    for (let i = 0; i < entries.length && this.#names.size > 0; i++) {
      const entry = entries[i] as ImportedEntry;
      const named = this.#names.get(entry);
      if (named === undefined) continue;
      this.#names.delete(entry);
      yield entries.slice(given, i);
      const letOthers = await this.#files?.hold();
      try {
        const alone = [await this.#filled(entry, named)];
        yield alone;
        // Iterated: release megabytes that the batch would keep alive.
        alone.length = 0;
      } finally {
        letOthers?.();
      }
      given = i + 1;
    }
    yield given === 0 ? entries : entries.slice(given);
  }

  /** A copy: the creator of the entry holds it longer than the output should live. */
  async #filled(entry: ImportedEntry, named: Named): Promise<ImportedEntry> {
    const { file } = named;
    const owner = ownerOf(entry.blocks, file);
    if (owner === undefined)
      return this.#missed(entry, "may belong to any of several results", named);
    const text = await this.#files?.readText(`${this.#folder}/${file}`, MAX_OUTPUT_BYTES);
    if (text === undefined) return this.#missed(entry, "is missing, or longer than 4 MiB", named);
    const value = file.endsWith(".json") ? parseJson(text) : undefined;
    const output = Array.isArray(value) ? toOutput(value) : text;
    const blocks = entry.blocks.map((block) => (block === owner ? { ...owner, output } : block));
    return { ...entry, blocks };
  }

  #missed(entry: ImportedEntry, why: string, { file, line }: Named): ImportedEntry {
    const message = `the output ${file} ${why}; the entry has the part that the model saw`;
    this.#problems.add("unreadable", message, line);
    return entry;
  }
}

/** The only result; else the result that the file is named after, or the only replaced one. */
function ownerOf(blocks: readonly Block[], file: string): ToolResultBlock | undefined {
  const results = blocks.filter((block) => block.type === "tool_result");
  if (results.length === 1) return results[0];
  const named = results.filter(({ toolUseId }) => toolUseId === file.replace(/\.\w+$/, ""));
  if (named.length === 1) return named[0];
  const marked = results.filter(
    ({ output }) => typeof output === "string" && output.startsWith(MARK),
  );
  return marked.length === 1 ? marked[0] : undefined;
}

/** Relative to the transcript. Sub-agents' files lie in the folder of their session. */
function folderBeside(path: string): string {
  const agent = agentPathOf(path);
  if (agent !== undefined) return `${"../".repeat(agent.levels)}${FOLDER}`;
  const name = fileName(path).replace(/\.jsonl(\.(?:gz|zst))?$/, "");
  return `${name}/${FOLDER}`;
}
