/**
 * `npm run try -- CLIENT | resume | home`: real clients, from npm, with our MCP server and a mock model on
 * loopback. `CLIENT` holds two conversations in a row: the second must find the first by one call.
 * Then memory must speak unasked at a start, a prompt, a failed command and a file that was read.
 * `resume` begins a conversation in Claude Code, goes on in Codex, and comes back. `home`
 * deletes transcripts, puts them back and goes on. Prints what the model saw.
 *
 * Needs the network for `npm install`; nothing else leaves this machine. Not part of `npm test`.
 */

import { setTimeout as pause } from "node:timers/promises";
import { TOKEN_ESTIMATE } from "../src/context/tokens.ts";
import { CLIENTS, type Client, clientName } from "./try/clients.ts";
import { tryHome } from "./try/home.ts";
import { Installation } from "./try/installation.ts";
import { type MockModel, startMockModel } from "./try/mock-model.ts";
import { tryResume } from "./try/resume.ts";
import { tryUnasked } from "./try/unasked.ts";

/** Said in the first conversation only, by the user and then by the model. */
const ASKED = "the walrus keeps the cron lock in slot 4711";
const ANSWERED = "noted: the pelican guards it";

/** The server's final read ends ten seconds after the last line. */
const PAUSE_MS = 12_000;

const OTHERS: Readonly<Record<string, typeof tryHome>> = { resume: tryResume, home: tryHome };

async function main(): Promise<number> {
  const [given = ""] = process.argv.slice(2);
  const [short = "", version] = given.split("@");
  const name = clientName(short) ?? "";
  const client = CLIENTS[name];
  if (client === undefined && !Object.hasOwn(OTHERS, given)) {
    const names = Object.keys(CLIENTS).join(" | ");
    console.error(
      `usage: npm run try -- ${names} | resume | home [--keep]\n       CLIENT@VERSION of npm`,
    );
    return 2;
  }
  const model = await startMockModel((ask) => (ask.includes("walrus keeps") ? ANSWERED : "done"));
  const isKept = process.argv.includes("--keep");
  try {
    if (client === undefined) return (await OTHERS[given]?.(model, isKept)) ?? 2;
    const suffix = version === undefined ? "" : `@${version}`;
    const installation = Installation.create([`${client.package}${suffix}`], model.url, isKept);
    try {
      const isFound = await converse(name, client, installation, model);
      return isFound && (await tryUnasked(client, installation, model)) ? 0 : 1;
    } finally {
      installation.remove();
    }
  } finally {
    await model.close();
  }
}

async function converse(
  name: string,
  client: Client,
  installation: Installation,
  model: MockModel,
): Promise<boolean> {
  await installation.setUp(name, client);
  const say = async (prompt: string) => {
    const started = performance.now();
    await installation.run(client.ask(prompt), client.env(installation.setting));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`\n> ${prompt}\n  (${client.package}, ${seconds} s)`);
  };
  await say(`Remember that ${ASKED}.`);
  const { name: tool, field } = await installation.searchTool();
  await pause(PAUSE_MS);
  const before = model.toolResults.length;
  // The second conversation shares only the searched word with the first.
  await say(`CALL ${tool} ${JSON.stringify({ [field]: "pelican" })} please`);
  const results = model.toolResults.slice(before);
  for (const seen of results) {
    const [bytes, tokens] = [Buffer.byteLength(seen), TOKEN_ESTIMATE.countText(seen)];
    console.log(`\n--- what the model saw of ${tool} ---\n${seen}`);
    console.log(`--- ${bytes} bytes, about ${tokens} tokens ---`);
  }
  const [seen = ""] = results;
  const isFound = results.length === 1 && [ASKED, ANSWERED].every((said) => seen.includes(said));
  console.log(isFound ? "\nThe first conversation was found by one call." : "\nNOT FOUND");
  return isFound;
}

process.exitCode = await main();
