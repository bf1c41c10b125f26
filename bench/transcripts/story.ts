/**
 * The events of a synthetic session, for every agent's format: a user asks; the agent thinks,
 * writes, runs commands, reads, searches and changes files, and answers.
 */

import { Words } from "./words.ts";

/** A tool's input and output. */
export type Action =
  | { readonly tool: "read"; readonly path: string; readonly lines: readonly string[] }
  | { readonly tool: "bash"; readonly command: string; readonly output: string }
  | { readonly tool: "search"; readonly pattern: string; readonly output: string }
  | { readonly tool: "write"; readonly path: string; readonly lines: readonly string[] }
  | {
      readonly tool: "edit";
      readonly path: string;
      readonly before: readonly string[];
      /** The first line that is replaced, from 0. */
      readonly at: number;
      readonly old: readonly string[];
      readonly new: readonly string[];
    };

export interface Step {
  readonly thought: string;
  readonly remark: string;
  readonly action: Action;
}

export interface Exchange {
  readonly request: string;
  readonly steps: readonly Step[];
  readonly answer: string;
}

/** Files shared by the sessions of a machine: each session reads a few. */
const SHARED_PAGES = 50;

export class Story {
  readonly words: Words;
  readonly id: string;
  readonly cwd: string;
  /** Bytes of conversation text. */
  spoken = 0;
  readonly #talk: number;
  readonly #files = new Map<string, string[]>();
  #time: number;

  /** `talk` scales the conversation text, so that its share is the same in each format. */
  constructor(number: number, talk: number) {
    this.words = new Words(1_000 + number);
    this.cwd = `/srv/project-${number % 50}`;
    this.id = this.words.uuid();
    this.#talk = talk;
    this.#time = Date.UTC(2026, 4, 4, 10) + number * 60_000;
  }

  exchange(): Exchange {
    const { words } = this;
    const request = this.#say(40 + words.below(60));
    const steps = Array.from({ length: 1 + words.below(6) }, () => ({
      thought: words.text(10 + words.below(50)),
      remark: this.#say(15 + words.below(40)),
      action: this.#action(),
    }));
    return { request, steps, answer: this.#say(150 + words.below(150)) };
  }

  now(): string {
    this.#time += 200 + this.words.below(4_000);
    return new Date(this.#time).toISOString();
  }

  /** The time of the last event. */
  get seconds(): number {
    return Math.floor(this.#time / 1000);
  }

  /** The files that were changed so far. */
  changed: string[] = [];

  #say(words: number): string {
    const text = this.words.text(Math.round(words * this.#talk));
    this.spoken += text.length;
    return text;
  }

  #action(): Action {
    const kind = this.words.below(100);
    if (kind < 42) return this.#bash();
    if (kind < 68) return this.#read();
    if (kind < 78) {
      return { tool: "search", pattern: this.words.text(1), output: this.#found() };
    }
    return kind < 94 ? this.#edit() : this.#write();
  }

  #read(): Action {
    const path = this.#path();
    return { tool: "read", path, lines: this.#file(path) };
  }

  /** Half of the commands print a few lines, and most bytes are in the few long outputs. */
  #bash(): Action {
    const { words } = this;
    const kind = words.below(100);
    const lines =
      kind < 60 ? 1 + words.below(12) : kind < 90 ? 20 + words.below(60) : 100 + words.below(400);
    const output = words.code(lines).join("\n");
    return { tool: "bash", command: `npm run ${words.text(2)} -- src/${words.text(1)}`, output };
  }

  #found(): string {
    const lines = Array.from({ length: 1 + this.words.below(30) }, () => this.words.codeLine());
    return lines.map((line) => `${this.#path()}:${this.words.below(400)}:${line}`).join("\n");
  }

  #edit(): Action {
    const { words } = this;
    const path = this.#path();
    const before = this.#file(path);
    const at = words.below(before.length);
    const old = before.slice(at, at + 1 + words.below(8));
    const fresh = words.code(1 + words.below(12));
    const after = before.toSpliced(at, old.length, ...fresh);
    this.#files.set(path, after);
    if (!this.changed.includes(path)) this.changed.push(path);
    return { tool: "edit", path, before, at, old, new: fresh };
  }

  #write(): Action {
    const path = `${this.cwd}/src/new-${this.words.below(1000)}.ts`;
    const lines = this.words.code(20 + this.words.below(160));
    this.#files.set(path, lines);
    if (!this.changed.includes(path)) this.changed.push(path);
    return { tool: "write", path, lines };
  }

  #path(): string {
    return `${this.cwd}/src/file-${this.words.below(90)}.ts`;
  }

  /** A third of the files are those that other sessions read as well. */
  #file(path: string): string[] {
    const { words } = this;
    let lines = this.#files.get(path);
    if (lines === undefined) {
      const isShared = words.below(3) === 0;
      const page = new Words(isShared ? words.below(SHARED_PAGES) : words.below(1_000_000));
      lines = page.code(20 + page.below(page.below(4) === 0 ? 400 : 120));
      this.#files.set(path, lines);
    }
    return lines;
  }
}
