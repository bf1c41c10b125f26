/** Where an adapter's store may be: both databases, and behind a server. */

import { serveStore } from "../../src/client/client.cases.ts";
import type { EngineApi } from "../../src/engine/interfaces.ts";
import { open } from "../../src/index.ts";
import { createDatabase } from "./postgres.ts";

export interface World {
  readonly engine: EngineApi;
  close(): Promise<void>;
}

export const WORLDS: readonly [string, () => Promise<World>][] = [
  ["SQLite", () => openWorld(":memory:")],
  ["PostgreSQL", async () => openWorld(await createDatabase())],
  ["a server", connectWorld],
];

async function openWorld(address: string): Promise<World> {
  const engine = await open(address, { inThread: true });
  return { engine, close: () => engine.close() };
}

async function connectWorld(): Promise<World> {
  let end = async (): Promise<void> => undefined;
  const { remote } = await serveStore({}, (stop) => {
    end = stop;
  });
  return { engine: remote, close: () => end() };
}
