/**
 * `backscroll` as a bash function: the commands of a script run in the process of `callCli`, which saves
 * the start of a Node process for each.
 */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { callCli } from "./cli.ts";

export interface ShellCommands {
  /** The definition of the function, to be put before a script. */
  readonly definition: string;
  close(): Promise<void>;
}

/** For commands that end by themselves: commands run one at a time. */
export async function openShellCommands(): Promise<ShellCommands> {
  const server = createServer((socket) => void answer(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    definition: definitionOf(port),
    close: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * A request is one line of three words in base64: the environment; the folder and the arguments; the
 * standard input. A NUL byte ends each variable and each argument. The answer has three lines: the
 * exit code, and both outputs in base64.
 */
function definitionOf(port: number): string {
  return `
encoded() { base64 | tr -d '\\n'; }
backscroll() {
  local code out err
  exec 9<> /dev/tcp/127.0.0.1/${port}
  {
    env -0 < /dev/null | encoded; printf ' '
    printf '%s\\0' "$PWD" "$@" | encoded; printf ' '
    encoded; printf '\\n'
  } >&9
  read -r code <&9 && read -r out <&9 && read -r err <&9
  exec 9>&-
  base64 -d <<< "$out"
  base64 -d <<< "$err" >&2
  return "$code"
}
`;
}

async function answer(socket: Socket): Promise<void> {
  const [line] = await once(createInterface(socket), "line");
  const [env = "", words = "", input = ""] = String(line).split(" ");
  const [cwd = "", ...args] = endedByNul(words);
  const ran = await callCli(args, {
    env: Object.fromEntries(endedByNul(env).map(splitPair)),
    cwd,
    input: Buffer.from(input, "base64"),
  }).catch((error: unknown) => ({ code: 1, stdout: "", stderr: String(error) }));
  const encoded = [ran.stdout, ran.stderr].map((output) => Buffer.from(output).toString("base64"));
  socket.end(`${ran.code}\n${encoded.join("\n")}\n`);
}

function splitPair(pair: string): [name: string, value: string] {
  const end = pair.indexOf("=");
  return [pair.slice(0, end), pair.slice(end + 1)];
}

function endedByNul(encoded: string): string[] {
  return Buffer.from(encoded, "base64").toString("utf8").split("\0").slice(0, -1);
}
