/**
 * Makes the stores of a release, once, from its own commit: `node test/release/make-stores.ts FOLDER
 * TRANSCRIPTS POSTGRES` with a new folder, a folder of agents' files, and an empty PostgreSQL database.
 * The dump of that database is made with pg_dump; CONTRIBUTING.md has the commands.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup, open } from "../../src/index.ts";
import { vectorOf } from "../support/embedding-server.ts";
import { fillStore } from "./fill-store.ts";
import { readAnswers } from "./read-answers.ts";

const [folder = "", transcripts = "", postgres = ""] = process.argv.slice(2);
const DIMENSIONS = 16;
const embedder = {
  name: "release",
  dimensions: DIMENSIONS,
  embed: async (texts: readonly string[]) => texts.map((text) => vectorOf(text, DIMENSIONS)),
};

mkdirSync(folder);
await make("sqlite", join(folder, "store.db"));
await make("postgres", postgres);
await backup(postgres, join(folder, "backup.db"));

async function make(name: string, address: string): Promise<void> {
  const filling = await open(address, { embedder });
  const secrets = await fillStore(filling, transcripts);
  await filling.close();
  // Without the embedder: words alone decide what is found.
  await using engine = await open(address);
  const answers = { ...secrets, answers: await readAnswers(engine) };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(answers, undefined, 1)}\n`);
}
