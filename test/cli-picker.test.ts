import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../src/open.ts";
import { removeFolder } from "./support/folder.ts";

/** The picker on a pseudo-terminal, which `script` of util-linux makes. */
const SCRIPT = "/usr/bin/script";
const hasTerminal = process.platform === "linux" && existsSync(SCRIPT);

test.runIf(hasTerminal)("a person types, sees, reads and leaves", { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "backscroll-picker-"));
  onTestFinished(() => removeFolder(folder));
  const db = join(folder, "a.db");
  const memory = await open(db);
  for (const [title, answer] of [
    ["Why does the cron job run twice?", "The okapi lock is gone."],
    ["Round the tax", "It is rounded."],
  ] as const) {
    const session = await memory.createSession({ agent: "coder", createdBy: "ana", title });
    await session.append([
      { role: "user", content: title },
      { role: "assistant", content: answer },
    ]);
  }
  await memory.close();

  const command = `stty cols 80 rows 24; ${process.execPath} bin/backscroll.js`;
  const env = { ...process.env, BACKSCROLL_DB: db, HOME: folder, TERM: "xterm" };
  const child = spawn(SCRIPT, ["-qec", command, "/dev/null"], { env });
  onTestFinished(() => void child.kill());
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  /** The last screen has the text. */
  const sees = (text: string) =>
    expect.poll(() => output.split("\u001b[H").at(-1), { timeout: 30_000 }).toContain(text);
  await sees("Round the tax");
  child.stdin.write("okapi");
  await sees("lock is gone");
  expect(output.split("\u001b[H").at(-1)).not.toContain("Round the tax");
  child.stdin.write("\r");
  await sees("r resumes");
  await sees("The okapi lock is gone.");
  child.stdin.write("r");
  await sees("coder has no command that resumes it");
  child.stdin.write("\u0003");
  expect(await ended).toBe(0);
  expect(output.trimEnd().endsWith("\u001b[?1049l")).toBe(true);
});
