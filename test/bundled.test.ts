/**
 * The library in programs that are not a file beside its package: bundled into one, or from stdin; and in a
 * runtime without SQLite. `runtimes.stress.ts` has the real tools.
 */

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeFolder } from "./support/folder.ts";

const run = promisify(execFile);
const LIBRARY = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href;

const program = (library: string) => `
  import { open } from ${JSON.stringify(library)};
  const main = async () => {
    const memory = await open(process.argv.at(-1));
    const session = await memory.createSession();
    await session.append({ role: "user", content: "The lock is gone." });
    const { hits } = await memory.searchSessions("lock");
    console.log(hits.length);
    await memory.close();
  };
  main();
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "backscroll-bundled-"));
});
afterAll(() => removeFolder(folder));

test.each([
  ["esm", "mjs"],
  ["cjs", "cjs"],
] as const)(
  "a bundle (%s) runs on the program's thread, and says so",
  async (format, ending) => {
    const entry = "\0program";
    const bundle = await rolldown({
      input: entry,
      platform: "node",
      external: ["pg-native", "@opentelemetry/api"],
      logLevel: "silent",
      plugins: [
        {
          name: "program",
          resolveId: (id) => (id === entry ? id : undefined),
          load: (id) => (id === entry ? program(new URL(LIBRARY).pathname) : undefined),
        },
      ],
    });
    const file = join(folder, `bundle.${ending}`);
    await bundle.write({ file, format, codeSplitting: false } as never);
    await bundle.close();
    const { stdout, stderr } = await run(process.execPath, [file, join(folder, `${format}.db`)]);
    expect(stdout.trim()).toBe("1");
    expect(stderr).toContain("this bundle is without storage-thread.js");
  },
  60_000,
);

/** A store on the program's own thread is noted on standard error. */
test.each([
  ["the command line's text", ["--input-type=module", "-e", program(LIBRARY)]],
  ["the text, with options of V8", ["--expose-gc", "--input-type=module", "-e", program(LIBRARY)]],
  ["a file, with options of V8", ["--max-old-space-size=300", "--expose-gc", "program.mjs"]],
])("a program from %s has its threads", async (name, words) => {
  writeFileSync(join(folder, "program.mjs"), program(LIBRARY));
  const { stdout, stderr } = await run(process.execPath, [...words, `${name}.db`], { cwd: folder });
  expect(stdout.trim()).toBe("1");
  expect(stderr).toBe("");
});

test("a runtime without SQLite is refused by a sentence, and no file is created", async () => {
  const file = join(folder, "refused.db");
  const text = program(LIBRARY).replace(
    "main();",
    "main().catch(({ message }) => console.log(message));",
  );
  const words = ["--no-experimental-sqlite", "--input-type=module", "-e", text, file];
  const { stdout, stderr } = await run(process.execPath, words);
  expect(stderr).toBe("");
  expect(stdout).toBe(
    `Node ${process.versions.node} has no node:sqlite, which a store in SQLite needs: use Node 22.18, Bun 1.4, Deno 2.7 or newer, or a server and backscroll/client\n`,
  );
  expect(existsSync(file)).toBe(false);
});
