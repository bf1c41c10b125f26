/** A new process that opens a store and searches once: the time to its answer. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Figures } from "./measure.ts";

/** The built library, as users have it: sources would be compiled first. */
const LIBRARY = new URL("../dist/index.js", import.meta.url);

const PROGRAM = `
  const { open } = await import(process.argv[1]);
  const opened = performance.now();
  const engine = await open(process.argv[2], { inThread: true });
  const { hits } = await engine.searchSessions("how did the people find the first kebase", { ranking: "plain" });
  console.log(JSON.stringify({ hits: hits.length, firstAnswerMs: performance.now(), importMs: opened }));
  await engine.close();
`;

export async function coldStart(address: string): Promise<Figures> {
  if (!existsSync(LIBRARY))
    throw new Error("run npm run build first: a cold start is that of users");
  const args = ["--input-type=module", "-e", PROGRAM, LIBRARY.href, address];
  const start = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let line = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    line += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return { ...(JSON.parse(line) as Figures), processMs: performance.now() - start };
}
