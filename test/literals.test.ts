import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseSync } from "rolldown/utils";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const FILES = globSync(
  ["src/**/*.{ts,tsx}", "test/**/*.ts", "bench/**/*.ts", "scripts/**/*.{ts,js}"],
  { cwd: ROOT, exclude: ["**/node_modules/**"] },
).map((file) => file.split(sep).join("/"));

/** Files that spread lists on purpose, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "scripts/make-vector-kernel.js": "A list a line is an instruction of WebAssembly.",
};

test("literals are written as literals: nothing spreads a fresh object or list", () => {
  const spread = FILES.filter((file) => !Object.hasOwn(EXCEPTIONS, file)).flatMap((file) =>
    freshSpreads(file, readFileSync(join(ROOT, file), "utf8")),
  );
  expect(spread).toEqual([]);
});

test("a spread of a fresh literal is found, one of a value is not", () => {
  const source = `
    const a = { ...{ b: 1 }, ...c, ...(d ? { e: 1 } : {}) };
    const f = [...["g"], ...h, ...[i, j].map(k)];
    l(...[m]);
    const n = [...(["o"] as const)];`;
  expect(freshSpreads("sample.ts", source)).toEqual([
    "sample.ts:2",
    "sample.ts:3",
    "sample.ts:4",
    "sample.ts:5",
  ]);
});

/** A prefilter: a spread followed by a literal, also in parentheses. Only matching files are parsed. */
const SUSPECT = /\.\.\.[\s(]*[[{]/;

/** Where `source` spreads an object or list that is written right there, by line. */
function freshSpreads(file: string, source: string): string[] {
  if (!SUSPECT.test(source)) return [];
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, argument, start } = node as Partial<Node>;
    if (type === "SpreadElement" && /^(Array|Object)Expression$/.test(bare(argument)?.type ?? "")) {
      found.push(`${file}:${source.slice(0, start).split("\n").length}`);
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(file, source).program);
  return found;
}

/** Without `as const`, `satisfies` and parentheses. */
function bare(node: Node | undefined): Node | undefined {
  return node?.expression === undefined ? node : bare(node.expression);
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly argument?: Node;
  readonly expression?: Node;
}
