import { expect, onTestFinished, test } from "vitest";
import type { SearchResult } from "../engine/search.ts";
import { formatHit } from "./print-hit.ts";
import { Terminal } from "./terminal.ts";

/** A terminal, or a pipe. */
function terminal(isTTY: boolean): Terminal {
  const { isTTY: before } = process.stdout;
  const { NO_COLOR, TERM } = process.env;
  onTestFinished(() => {
    process.stdout.isTTY = before;
    Object.assign(process.env, { ...(NO_COLOR && { NO_COLOR }), ...(TERM && { TERM }) });
  });
  process.stdout.isTTY = isTTY;
  delete process.env["NO_COLOR"];
  process.env["TERM"] = "xterm";
  return new Terminal();
}

const item = { actor: "ana", createdAt: 0, truncated: false, toolName: null };
const hit: SearchResult["hits"][number] = {
  sessionId: "s\u001b[1m",
  shortId: "s\u001b[1m",
  meta: {
    title: "Cron\nruns",
    agent: "co\u0007der",
    createdAt: 0,
    updatedAt: 0,
    messageCount: 2,
    lateBranches: 0,
  },
  entryId: "e",
  index: 1,
  leaf: "e",
  branch: null,
  score: 1.5,
  window: [
    {
      ...item,
      entryId: "d",
      index: 0,
      role: "user",
      matches: [],
      found: false,
      snippet: "one\ntwo\nthree",
    },
    {
      ...item,
      entryId: "e",
      index: 1,
      role: "assistant",
      found: true,
      snippet: "the \u001b[31mlock\u001b[0m is \u202egone",
      matches: [{ start: 9, end: 13 }],
    },
  ],
  parts: { message: 1, neighbours: 0.25, session: 0.25, boost: 0, coverage: 0 },
};

const STYLE = { before: 1, after: 1 };

test("marks matches on a terminal", () => {
  const text = formatHit(hit, terminal(true), STYLE).join("\n");
  expect(text).toContain("\u001b[1;33mlock\u001b[22;39m");
  expect(text).toContain("␛[31m");
});

test("has no colours in a pipe, and shows control characters there too", () => {
  expect(formatHit(hit, terminal(false), STYLE)).toEqual([
    "s␛[1m  Cron runs",
    expect.stringMatching(/^ {2}co␇der · \S+ \S+ · score 1\.50$/),
    "  message 1.000 + neighbours 0.250 + session 0.250 + boost 0.000 + coverage 0.000",
    "  #0 user · ana",
    "    one",
    "    two …",
    "▸ #1 assistant · ana",
    "    the ␛[31mlock␛[0m is \\u202egone",
  ]);
});

/** A snippet in which «…» are the matches. */
function withMatches(snippet: string) {
  const matches: { start: number; end: number }[] = [];
  let text = "";
  for (const [i, part] of snippet.split(/[«»]/).entries()) {
    if (i % 2 === 1) matches.push({ start: text.length, end: text.length + part.length });
    text += part;
  }
  return { snippet: text, matches };
}

/** The output for a message with this snippet. */
function foundIn(snippet: string, columns = 80): string[] {
  const { COLUMNS } = process.env;
  process.env["COLUMNS"] = String(columns);
  onTestFinished(() => {
    if (COLUMNS === undefined) delete process.env["COLUMNS"];
    else process.env["COLUMNS"] = COLUMNS;
  });
  const found = { ...item, entryId: "e", index: 1, role: "user", found: true } as const;
  const { parts: _, ...plain } = hit;
  const window = [{ ...found, ...withMatches(snippet) }];
  return formatHit({ ...plain, window }, terminal(false), STYLE).slice(3);
}

test("shows the line with the match, however far down it is", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
  lines[30] = "here is the «lock» that was lost";
  expect(foundIn(lines.join("\n"))).toEqual([
    "    line 29",
    "    here is the lock that was lost",
    "    line 31",
    "    …",
  ]);
});

test("cuts a long line between words, around its match", () => {
  const [line = ""] = foundIn(`${"before ".repeat(50)}the «lock» was ${"after ".repeat(50)}`, 60);
  expect(line).toMatch(/^ {4}…(before )+the lock was (after )*after…$/);
  expect(line.length).toBeLessThanOrEqual(60);
});

/** The output for an assistant's message with a call and this snippet. */
function foundInCall(snippet: string, truncated = false): string[] {
  const { parts: _, ...plain } = hit;
  const call = { ...item, entryId: "e", index: 1, role: "assistant", found: true } as const;
  const window = [{ ...call, toolName: "Bash", ...withMatches(snippet), truncated }];
  return formatHit({ ...plain, window }, terminal(true), STYLE).slice(3);
}

const marked = (text: string) => `\u001b[1;33m${text}\u001b[22;39m`;

test("shows a matching call as plain text on one line", () => {
  const input = JSON.stringify({
    command: 'grep -r "«StageFiles»(" \\\n  --include="*.go" — «now»',
    timeout: 5,
  }).replace("—", "\\u2014");
  expect(foundInCall(`Bash(${input})`)).toEqual([
    `    Bash command: grep -r "${marked("StageFiles")}(" \\ --include="*.go" — ${marked("now")}, timeout: 5`,
  ]);
  expect(foundInCall(`«Bash»({"todos":[{"content":"a"}]})`)).toEqual([
    `    ${marked("Bash")} todos: content: a`,
  ]);
});

test("shows part of a call as plain text", () => {
  expect(foundInCall('import cycles.\\npackage «id»\\n","replace_all":fal', true)).toEqual([
    `    import cycles. package ${marked("id")} , replace_all: fal`,
    expect.stringContaining("…"),
  ]);
  expect(foundInCall('"path":"C:\\\\new","text":"«lock»', true)).toEqual([
    `    path: C:\\new, text: ${marked("lock")}`,
    expect.stringContaining("…"),
  ]);
});

test("leaves an assistant's own words as they are", () => {
  expect(foundInCall('He said "yes", "no" [«maybe»]', true)[0]).toBe(
    `    He said "yes", "no" [${marked("maybe")}]`,
  );
  expect(foundInCall('Write "\\n" as «newline» \\u000a.')).toEqual([
    `    Write "\\n" as ${marked("newline")} \\u000a.`,
  ]);
});

test("skips neighbours without text, and shows a call on one line", () => {
  const near = { ...item, role: "assistant", matches: [], found: false, entryId: "n" } as const;
  const { parts: _, ...plain } = hit;
  const call = 'Edit({"old":"a\\nb","file_path":"src/cart.ts","new":"c"})';
  const window = [
    { ...near, index: 0, snippet: "said before" },
    { ...near, index: 1, snippet: " \n\n" },
    { ...near, index: 2, snippet: "the lock", matches: [{ start: 4, end: 8 }], found: true },
    { ...near, index: 3, snippet: "" },
    { ...near, index: 4, snippet: call, toolName: "Edit" },
    { ...near, index: 5, snippet: "not shown" },
  ];
  expect(formatHit({ ...plain, window }, terminal(false), STYLE).slice(2)).toEqual([
    "  #0 assistant · ana",
    "    said before",
    "▸ #2 assistant · ana",
    "    the lock",
    "  #4 assistant · ana",
    "    Edit src/cart.ts",
  ]);
});

test("the line with a run is shown with its neighbours, cut between words", () => {
  const lines = "the lock of it\n".repeat(9);
  const filler = "compiling locks ".repeat(30);
  const snippet = `${lines}before\n${filler}not a lock ${filler}\nafter\n${lines}`;
  const { parts: _, ...plain } = hit;
  const locks = [...snippet.matchAll(/lock/g)].map(({ index }) => ({
    start: index,
    end: index + 4,
  }));
  const start = snippet.indexOf("not a lock");
  const matches = [...locks.filter((each) => each.end < start), { start, end: start + 10 }];
  const window = [
    { ...item, entryId: "e", index: 1, role: "user" as const, found: true, snippet, matches },
  ];
  const [, , , ...shown] = formatHit({ ...plain, window }, terminal(false), STYLE);
  expect(shown.map((line) => line.trim())).toEqual([
    "before",
    expect.stringMatching(/^…(compiling|locks) .*not a lock.* (compiling|locks)…$/),
    "after",
    "…",
  ]);
});

/** The rows of a first hit whose only message is `snippet`, without their labels. */
function firstHit(snippet: string, word: RegExp): string[] {
  const { parts: _, ...plain } = hit;
  const matches = [...snippet.matchAll(word)].map(({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }));
  const found = { ...item, entryId: "e", index: 1, role: "assistant" as const, found: true };
  const window = [{ ...found, snippet, matches }];
  const [, , ...rows] = formatHit({ ...plain, window }, terminal(false), undefined, {
    talk: window,
    more: [],
  });
  return rows.map((row) => row.replace(/^▸ ana said {2}#1 {2}/, "").trim());
}

test("the first hit shows successive lines, so that a list keeps the point between two matches", () => {
  const points = ["1. The lock was taken.", "2. Nothing was locked.", "3. The lock expired."];
  expect(
    firstHit(["Hello.", "", ...points, ...Array(9).fill("More.")].join("\n"), /lock\b/g),
  ).toEqual(expect.arrayContaining(points));
});

test("the first hit shows a sentence before the code that repeats the word", () => {
  const code = Array.from({ length: 9 }, (_, i) => `lock${i}.take(lock)`);
  const shown = firstHit(
    ["```js", ...code, "```", "The lock expired because the job takes 50 s."].join("\n"),
    /lock/g,
  );
  expect(shown.at(-1)).toBe("The lock expired because the job takes 50 s.");
  expect(shown.length).toBeLessThanOrEqual(6);
});

test("a long line fills three rows, and no word of them is lost between two", () => {
  const words = Array.from({ length: 400 }, (_, i) => `word${i}`);
  const rows = firstHit(words.join(" "), /word200\b/g);
  expect(rows).toHaveLength(3);
  const shown = rows.join(" ").replaceAll("…", "").split(" ");
  expect(shown).toContain("word200");
  const first = words.indexOf(shown[0] ?? "");
  expect(shown).toEqual(words.slice(first, first + shown.length));
});
