/** A made archive of tool calls that are hard to find, and a plain scan of it. */

import type { EngineApi } from "../../src/engine/interfaces.ts";
import type { MessageInput } from "../../src/engine/message-input.ts";
import type { Block, Entry, Session } from "../../src/index.ts";
import { seeded } from "./random.ts";

const WORDS =
  `File has not been read yet the git go build test error Error ERROR TypeError typeerror
  HTTPServer IDs ids don't can't re 1,000 42 2024-01-15T10 foo_bar fooBar a.ConnectionError ./... %! ::
  naïve 错误 --force 'x' cargo`.split(/\s+/);
const SECRET = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

/** Of `count` sessions, with segments, a tail, branches, and removed and deleted content. */
export async function fillArchive(engine: EngineApi, count: number, seed: number): Promise<void> {
  const random = seeded(seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const some = (size: number) => {
    const words = Array.from({ length: 1 + Math.floor(random() * size) }, () => pick(WORDS));
    return words.map((word) => word + pick([" ", " ", " ", "\n", ".", "-", ": "])).join("");
  };
  /** Text that the index leaves out in part. */
  const shaped = (text: string) =>
    pick([
      () => text,
      () => text,
      () => text,
      () => text,
      () => `${"filler line\n".repeat(1_700)}${text}\n${"other line\n".repeat(1_700)}`,
      () => `done\n<system-reminder>\n${text}\n</system-reminder>`,
      () => `token ${SECRET} ${text}`,
      () => `${"x/".repeat(150)}${text}`,
    ])();
  let ids = 0;
  const call = (): MessageInput[] => {
    const id = `call-${++ids}`;
    const name = pick(["Bash", "Bash", "Bash", "Read", "Edit", "mcp__backscroll__recall"]);
    const command = shaped(some(6));
    const shell = pick<object>([
      { command },
      { command: ["sh", "-c", command] },
      { command: command.split(" ") },
    ]);
    const input = name === "Read" ? { file_path: "/srv/a.ts", note: command } : shell;
    const output = pick<string | Block[]>([
      shaped(some(8)),
      [
        { type: "text", text: some(5) },
        { type: "text", text: shaped(some(5)) },
      ],
    ]);
    const isError = random() < 0.4;
    const result: MessageInput = {
      role: "tool",
      actor: name,
      toolResults: [{ id, name, output, isError }],
    };
    // Some results have lost their call.
    if (random() < 0.1) return [result];
    return [{ role: "assistant", toolCalls: [{ id, name, input: JSON.stringify(input) }] }, result];
  };
  for (let i = 0; i < count; i++) {
    const session = await engine.createSession({
      agent: pick(["coder", "codex"]),
      createdBy: "ana",
      startedAt: 1_700_000_000_000 + i * 60_000,
      metadata: random() < 0.3 ? { machineMade: true } : {},
    });
    const injected = random() < 0.2 ? { metadata: { injected: true } } : {};
    const asked = await session.append({ role: "user", content: shaped(some(8)) });
    for (const message of [...call(), ...call()]) await session.append({ ...message, ...injected });
    await session.append({ role: "assistant", content: some(8) });
    if (random() < 0.3) {
      await session.branch(asked.id);
      await session.append([{ role: "assistant", content: "Another way." }]);
    }
    if (random() < 0.2) {
      const { entries } = await session.listEntries({ tree: true, limit: 50 });
      await session.removeEntry(pick(entries).id);
    }
    if (random() < 0.1) await engine.deleteSession(session.id);
    if (i === Math.floor(count * 0.4) || i === Math.floor(count * 0.8)) {
      await engine.maintainIndex("flush");
    }
  }
}

export interface StoredSession {
  readonly session: Session;
  readonly entries: readonly Entry[];
}

/** Every session with every stored entry, by last interaction. */
export async function readAll(engine: EngineApi): Promise<readonly StoredSession[]> {
  const { sessions } = await engine.listSessions({ machineMade: true, limit: 500 });
  return Promise.all(
    sessions.map(async (session) => {
      const { entries } = await engine.session(session.id).listEntries({ tree: true, limit: 500 });
      return { session, entries };
    }),
  );
}

/** Texts that some session has: whole words, and parts of words. */
export function textsOf(stored: readonly StoredSession[], count: number, seed: number): string[] {
  const random = seeded(seed);
  const texts = stored.flatMap(({ entries }) =>
    entries.flatMap(({ blocks }) => blocks.flatMap((block) => allTexts(block))),
  );
  return Array.from({ length: count }, () => {
    const chunks = (texts[Math.floor(random() * texts.length)] ?? "").split(/\s+/);
    const from = Math.floor(random() * chunks.length);
    const text = chunks
      .slice(from, from + 1 + Math.floor(random() * 5))
      .join(" ")
      .slice(0, 200);
    return random() < 0.2 ? text.slice(1) : text;
  }).filter((text) => text.trim() !== "");
}

function allTexts(block: Block): string[] {
  if (block.type === "text") return [block.text];
  if (block.type === "tool_use") return [JSON.stringify(block.input)];
  return block.type === "tool_result" ? [outputOf(block)] : [];
}

type Matches = (text: string) => boolean;

/** The sessions that ran a command or met an error, by a look at every entry. */
export function scan(
  stored: readonly StoredSession[],
  kind: "command" | "error",
  text: string,
): { readonly sessions: readonly string[]; readonly withinWords: boolean } {
  const whole = scanFor(stored, kind, wholeWords(text, kind === "error"));
  if (whole.length > 0 || !/[\p{L}\p{N}]/u.test(text))
    return { sessions: whole, withinWords: false };
  const small = squeeze(text).toLowerCase();
  const within = (source: string) => squeeze(source).toLowerCase().includes(small);
  return { sessions: scanFor(stored, kind, within), withinWords: true };
}

function scanFor(
  stored: readonly StoredSession[],
  kind: "command" | "error",
  matches: Matches,
): string[] {
  return stored
    .filter(({ entries }) => (kind === "command" ? ran(entries, matches) : met(entries, matches)))
    .map(({ session }) => session.id);
}

function ran(entries: readonly Entry[], matches: Matches): boolean {
  return entries
    .flatMap(({ blocks }) => blocks)
    .some((block) => {
      if (block.type !== "tool_use" || block.name !== "Bash") return false;
      const { command } = block.input as { command: string | string[] };
      if (typeof command === "string") return matches(command);
      if (command[0] === "sh") return matches(command[2] ?? "");
      const quote = (word: string) =>
        /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
      return matches(command.map(quote).join(" "));
    });
}

function met(entries: readonly Entry[], matches: Matches): boolean {
  const blocks = entries.flatMap((entry) => entry.blocks.map((block) => ({ entry, block })));
  return blocks.some(({ entry, block }) => {
    if (block.type === "text") {
      const { role, metadata } = entry;
      // The shaped texts have one injected element.
      const said = block.text.replace(/<system-reminder>.*<\/system-reminder>/s, " ");
      return role === "user" && metadata["injected"] !== true && matches(said);
    }
    if (block.type !== "tool_result" || block.toolName?.endsWith("recall")) return false;
    if (!matches(outputOf(block))) return false;
    const made = blocks.find(
      (each) => each.block.type === "tool_use" && each.block.id === block.toolUseId,
    )?.block;
    if (block.isError || made?.type !== "tool_use") return true;
    return made.name !== "Read" && !matches(JSON.stringify(made.input));
  });
}

function outputOf({ output }: Extract<Block, { type: "tool_result" }>): string {
  if (typeof output === "string") return output;
  return output.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Letters and digits that continue a word; Chinese has no spaces. */
const LETTER = String.raw`[[\p{L}\p{N}\p{M}_]--\p{scx=Han}]`;

function wholeWords(text: string, ignoreCase: boolean): Matches {
  const chunks = text.trim().split(/\s+/);
  const escaped = chunks.map((chunk) =>
    chunk.replace(/[^\p{L}\p{N}\p{M}_]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`),
  );
  const isLetter = (sign: string | undefined) => new RegExp(`^${LETTER}$`, "v").test(sign ?? "");
  const before = isLetter([...text.trim()][0]) ? `(?<!${LETTER})` : "";
  const after = isLetter([...text.trim()].at(-1)) ? `(?!${LETTER})(?!(?<=n)'t)` : "";
  const pattern = new RegExp(before + escaped.join("\\s+") + after, ignoreCase ? "giv" : "gv");
  const [first = ""] = chunks;
  return (source) => {
    // Most texts do not even have its first word.
    if (!source.toLowerCase().includes(first.toLowerCase())) return false;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(source); match !== null; match = pattern.exec(source)) {
      if (!ignoreCase || plain(match[0]) === plain(text)) return true;
      pattern.lastIndex = match.index + 1;
    }
    return false;
  };
}

/** Capitals inside a word are kept. */
function plain(text: string): string {
  return squeeze(text).replace(/[\p{L}\p{N}\p{M}]+/gu, (word) => {
    const isMixed = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(word) && !/^\p{Lu}+s$/u.test(word);
    return isMixed ? word : word.toLowerCase();
  });
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
