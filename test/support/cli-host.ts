/**
 * Runs commands one after another in one process: starting Node and loading the modules costs ten
 * times what most commands do. Each command gets its own environment, folder, input and output.
 *
 * Tests of signals, exits, broken pipes and endless commands need a process of their own: `runCli` of
 * `cli.ts`.
 */

import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

export interface HostedCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string | Uint8Array;
}

const [, , bin = "", mainFile = ""] = process.argv;
process.argv.splice(1, process.argv.length, bin);
const { main } = (await import(pathToFileURL(mainFile).href)) as {
  main: (args: readonly string[]) => Promise<number>;
};

process.on("message", (command: HostedCommand) => void answer(command));
process.on("disconnect", () => process.exit(0));
process.send?.("ready");

async function answer({ args, env, cwd, input }: HostedCommand): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  const [stdout, stderr] = [new Captured(), new Captured()];
  replace("stdout", stdout);
  replace("stderr", stderr);
  replace("stdin", Readable.from([Buffer.from(input)], { objectMode: false }));
  const code = await main(args);
  process.send?.({ code, stdout: stdout.text(), stderr: stderr.text() });
}

function replace(name: "stdin" | "stdout" | "stderr", stream: Readable | Writable): void {
  Object.defineProperty(process, name, { value: stream, configurable: true });
}

class Captured extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
