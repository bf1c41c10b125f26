/** The program's name, version and command. */

import { existsSync, readFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { hidePasswords } from "../api/error.ts";
import type { Context } from "./context.ts";

/** The package's version. package.json is two folders up, or one from bundled code. */
export function readVersion(): string {
  const [file] = ["../../package.json", "../package.json"]
    .map((path) => new URL(path, import.meta.url))
    .filter((url) => existsSync(url));
  if (file === undefined) throw new Error("the package has no package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** The versions of this package and of its runtime. */
export function versions(): Record<string, string> {
  const { node, sqlite = "" } = process.versions;
  return { version: readVersion(), node, sqlite };
}

/** A command line for the same program, store and tenant. */
export function commandLine(context: Context, words: string): string {
  const { db, tenant } = context.given;
  const options = [
    ...(db === undefined ? [] : ["--db", quote(hidePasswords(db))]),
    ...(tenant === undefined ? [] : ["--tenant", quote(tenant)]),
  ];
  return [programName(), words, ...options].join(" ");
}

/** Options that `commandLine` adds. */
const OF_STORE = ["db", "tenant"];

/** Options as they were given, for the next page of the same; each with a space before it. */
export function givenOptions(
  options: Readonly<Record<string, unknown>>,
  but: readonly string[],
): string {
  const given = Object.entries(options).filter(
    ([name]) => !but.includes(name) && !OF_STORE.includes(name),
  );
  const words = given.flatMap(([name, value]) =>
    [value].flat().flatMap((each) => {
      if (each === undefined || each === false) return [];
      return each === true ? [`--${name}`] : [`--${name}`, quote(String(each))];
    }),
  );
  return words.map((word) => ` ${word}`).join("");
}

function programName(): string {
  const script = process.argv[1] ?? "";
  if (basename(script) === "backscroll") return "backscroll";
  const lifecycle = process.env["npm_lifecycle_event"] ?? "";
  if (["start", "backscroll"].includes(lifecycle)) return "npm run -s backscroll --";
  return `node ${quote(relative(process.cwd(), script))}`;
}

/** Quotes for a POSIX shell, only where needed. */
export function quote(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
