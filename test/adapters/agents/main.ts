/**
 * A process with an agent: it answers one request, and then looks something up for another one until it is
 * killed. `node main.ts FRAMEWORK ADDRESS`
 */

import { flushCompileCache } from "node:module";
import { open } from "../../../src/index.ts";
import type { RunTurn } from "./agent.ts";

const [, , framework = "", address = ""] = process.argv;
const { runTurn } = (await import(`./${framework}.ts`)) as { readonly runTurn: RunTurn };
// Usually written at the exit, which a process that is killed does not have.
flushCompileCache();
const memory = await open(address, { inThread: true });
await runTurn(memory, "Which animal was in the first trap?", async () => "a quokka");
await runTurn(memory, "Which animal was in the second trap?", () => {
  process.stdout.write("looking\n");
  // Keeps the process alive.
  setInterval(() => undefined, 1_000);
  return new Promise<never>(() => undefined);
});
