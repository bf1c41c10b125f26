import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { expect, test } from "vitest";
import { RULE } from "./support/dependency-rule.ts";

const SRC = join(import.meta.dirname, "../src");
const FILES = globSync("**/*.{ts,tsx}", { cwd: SRC })
  .map((file) => file.split(sep).join("/"))
  .filter((file) => !/\.(test|cases)\.tsx?$/.test(file));

test("every import follows the dependency rule", () => {
  const broken = FILES.flatMap((file) => {
    const allowed = RULE[unitOf(file)] ?? { folders: [], packages: [] };
    return importsOf(file)
      .filter(({ kind, name }) => !allowed[kind].includes(name))
      .map(({ name }) => `${file} imports ${name}`);
  });
  expect(broken).toEqual([]);
});

test("every action of a workflow is pinned to a commit", () => {
  const workflows = globSync(".github/workflows/*.yml", { cwd: join(SRC, "..") });
  const actions = workflows.flatMap((file) => [
    ...readFileSync(join(SRC, "..", file), "utf8").matchAll(/uses: (.*)/g),
  ]);
  expect(actions.length).toBeGreaterThan(0);
  for (const [, action] of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v[\d.]+$/);
});

test("the rule names every existing folder, and no other", () => {
  expect([...new Set(FILES.map(unitOf))].sort()).toEqual(Object.keys(RULE).sort());
});

test("the rule has no cycle", () => {
  const cycles: string[] = [];
  // Depth-first search: a visited unit is in no further cycle.
  const followed = new Set<string>();
  const visit = (unit: string, above: readonly string[]) => {
    if (above.includes(unit)) cycles.push([...above.slice(above.indexOf(unit)), unit].join(" → "));
    if (followed.has(unit)) return;
    followed.add(unit);
    for (const below of RULE[unit]?.folders ?? []) visit(below, [...above, unit]);
  };
  for (const unit of Object.keys(RULE)) visit(unit, []);
  expect(cycles).toEqual([]);
});

test("no file imports itself through others, not even for types", () => {
  const imports = new Map(
    FILES.map((file) => [
      file,
      importsOf(file, "with its own folder").flatMap(({ path }) => path ?? []),
    ]),
  );
  expect(findCycle(imports)).toEqual([]);
});

test("a cycle of imports is found, and a diamond is not one", () => {
  const diamond = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] };
  expect(findCycle(new Map(Object.entries(diamond)))).toEqual([]);
  expect(findCycle(new Map(Object.entries({ ...diamond, d: ["b"] })))).toEqual(["b", "d", "b"]);
});

test("only open.ts names a backend", () => {
  const named = FILES.filter((file) =>
    importsOf(file).some(({ name }) => /^store\/(sqlite|postgres)$/.test(name)),
  );
  expect(named).toEqual(["open.ts"]);
});

test("the two backends do not import each other", () => {
  expect(RULE["store/sqlite"]?.folders).not.toContain("store/postgres");
  expect(RULE["store/postgres"]?.folders).not.toContain("store/sqlite");
});

test("the readers of two agents do not import each other", () => {
  const agents = Object.keys(RULE).filter((unit) => /^ingest\/[^.]+$/.test(unit));
  expect(agents.length).toBeGreaterThan(1);
  for (const agent of agents) {
    expect(RULE[agent]?.folders.filter((folder) => agents.includes(folder))).toEqual([]);
  }
});

test("no other folder imports the command line", () => {
  expect(FILES.filter((file) => importsOf(file).some(({ name }) => name === "cli"))).toEqual([]);
});

test("wire types take types only from the engine and the store", () => {
  const used = FILES.filter((file) => unitOf(file) === "api").flatMap((file) =>
    importsOf(file)
      .filter(
        ({ name, typeOnly }) =>
          ["engine", "store", "archive", "gateway"].includes(name) && !typeOnly,
      )
      .map(({ name }) => `${file} uses ${name}`),
  );
  expect(used).toEqual([]);
});

test("the client imports only types from code beside the store", () => {
  const used = filesLoadedBy("client").flatMap((file) =>
    importsOf(file)
      .filter(
        ({ kind, name, typeOnly }) => !typeOnly && (kind === "packages" || !IN_BROWSERS.test(name)),
      )
      .map(({ name }) => `${file} uses ${name}`),
  );
  expect(used).toEqual([]);
});

test("slow packages are loaded on demand", () => {
  const eager = FILES.flatMap((file) =>
    importsOf(file)
      .filter(({ name, typeOnly, lazy }) => /^(ai|@ai-sdk\/.*)$/.test(name) && !typeOnly && !lazy)
      .map(({ name }) => `${file} imports ${name}`),
  );
  expect(eager).toEqual([]);
});

/** Folders that a browser may load: pure code without Node. */
const IN_BROWSERS = /^(model|async|secrets|transcript|convert|api|client|search|recap\/wire)$/;

/** The files of a folder, and those that are loaded with them. */
function filesLoadedBy(folder: string): string[] {
  const loaded = new Set<string>();
  const visit = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, typeOnly } of importsOf(file, "with its own folder")) {
      if (path !== undefined && !typeOnly) visit(path);
    }
  };
  for (const file of FILES) if (unitOf(file) === folder) visit(file);
  return [...loaded];
}

/** The first cycle of imports, beginning and ending with the same file; empty if none. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): string[] => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const imported of imports.get(file) ?? []) {
      const circle = visit(imported, [...above, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

interface Import {
  readonly kind: "folders" | "packages";
  readonly name: string;
  readonly typeOnly: boolean;
  /** A dynamic import. */
  readonly lazy: boolean;
  /** The imported source file. */
  readonly path?: string;
}

/** Imports of `file` from outside its own folder. */
function importsOf(file: string, scope?: "with its own folder"): Import[] {
  return specifiersOf(file).flatMap(([, mark, specifier = ""]): Import[] => {
    const [typeOnly, lazy] = [mark === " type", mark === "("];
    if (!specifier.startsWith(".")) return [{ kind: "packages", name: specifier, typeOnly, lazy }];
    const path = normalize(join(dirname(file), specifier))
      .split(sep)
      .join("/");
    const unit = unitOf(path);
    if (unit === unitOf(file) && scope === undefined) return [];
    return [{ kind: "folders", name: unit, typeOnly, lazy, path }];
  });
}

/** Memoized: seven tests need the imports of every file. */
const specifiers = new Map<string, readonly RegExpExecArray[]>();

function specifiersOf(file: string): readonly RegExpExecArray[] {
  const known = specifiers.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(join(SRC, file), "utf8");
  const found = [
    ...source.matchAll(/^(?:import|export)\b( type\b)?(?:[^;"']*?\bfrom)?\s*["']([^"']+)["']/gm),
    ...source.matchAll(/\b(?:await import|import)(\()\s*["']([^"']+)["']/g),
  ];
  specifiers.set(file, found);
  return found;
}

const UNITS = Object.keys(RULE).toSorted((a, b) => b.length - a.length);

/** The longest name in the rule that `path` starts with, or its first folder. */
function unitOf(path: string): string {
  const unit = UNITS.find((name) => path === name || path.startsWith(`${name}/`));
  return unit ?? path.split("/")[0] ?? "";
}
