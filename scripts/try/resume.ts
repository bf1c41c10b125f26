/**
 * A conversation begun in Claude Code, continued in Codex and back, as a native copy each time: the
 * model's last request must hold everything, and search must find each sentence once.
 */

import { CLIENTS, type Client } from "./clients.ts";
import { Installation } from "./installation.ts";
import type { Body, MockModel } from "./mock-model.ts";

/** Each is said in one agent only. */
const STEPS = [
  { agent: "claude-code", prompt: "Remember that the walrus keeps the lock in slot 4711." },
  { agent: "codex", prompt: "Remember that the heron keeps the key in slot 5822." },
  { agent: "claude-code", prompt: "Remember that the otter keeps the map in slot 6933." },
] as const;
const SLOTS = ["4711", "5822", "6933"];

export async function tryResume(model: MockModel, isKept: boolean): Promise<number> {
  const agents = ["claude-code", "codex"];
  const clients = new Map(agents.map((name) => [name, clientOf(name)]));
  const packages = [...clients.values()].map((client) => client.package);
  const installation = Installation.create(packages, model.url, isKept);
  try {
    for (const [name, client] of clients) await installation.setUp(name, client);
    let session: string | undefined;
    for (const { agent, prompt } of STEPS) {
      const client = clientOf(agent);
      const command =
        session === undefined
          ? client.ask(prompt)
          : (client.goOn?.(await copy(installation, session, agent), prompt) ?? []);
      await installation.run(command, client.env(installation.setting));
      console.log(`\n${agent}> ${prompt}`);
      session = await newestSession(installation);
    }
    return (await report(installation, model)) ? 0 : 1;
  } finally {
    installation.remove();
  }
}

/** Copies the session into the agent's own files; gives the id that it has there. */
async function copy(installation: Installation, session: string, agent: string): Promise<string> {
  const words = ["resume", session, "--in", agent, "--native", "--json"];
  const told = JSON.parse(await installation.backscroll(words)) as Record<string, unknown>;
  console.log(`\n$ backscroll ${words.join(" ")}\n${JSON.stringify(told, null, 2)}`);
  return String(told["id"]);
}

async function newestSession(installation: Installation): Promise<string> {
  await installation.backscroll(["ingest"]);
  const listed = await installation.backscroll(["list", "--limit", "1", "--json"]);
  const { sessions } = JSON.parse(listed) as { sessions: { id: string }[] };
  return sessions[0]?.id ?? "";
}

async function report(installation: Installation, model: MockModel): Promise<boolean> {
  const [last] = model.requests.filter((body) => textOf(body).includes("6933")).slice(-1);
  const seen = textOf(last ?? {});
  console.log(`\n--- what the model was sent at the end ---\n${said(last ?? {}).join("\n")}`);
  const missing = SLOTS.filter((slot) => !seen.includes(slot));
  const counts: number[] = [];
  for (const slot of SLOTS) {
    const found = await installation.backscroll(["search", slot, "--json"]);
    counts.push((JSON.parse(found) as { hits: unknown[] }).hits.length);
  }
  console.log(`\nhits of ${SLOTS.join(", ")}: ${counts.join(", ")}`);
  const isWhole = missing.length === 0 && counts.every((count) => count === 1);
  console.log(isWhole ? "The model saw all that was said." : `NOT SEEN: ${missing.join(", ")}`);
  return isWhole;
}

/** The lines with a slot in them. */
function said(body: Body): string[] {
  return JSON.stringify(body, null, 1)
    .split("\n")
    .filter((line) => SLOTS.some((slot) => line.includes(slot)))
    .map((line) => line.trim());
}

function textOf(body: Body): string {
  return JSON.stringify(body);
}

function clientOf(name: string): Client {
  const client = CLIENTS[name];
  if (client === undefined) throw new Error(`there is no client ${name}`);
  return client;
}
