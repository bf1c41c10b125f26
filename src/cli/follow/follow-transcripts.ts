/** Storing what agents write on this machine, in the background of something else. */

import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { IngestLease } from "../../archive/ingest-lease.ts";
import { workInTurn } from "../../archive/work-in-turn.ts";
import { shortHash } from "../../ingest/identity/short-hash.ts";
import type { Context } from "../context.ts";
import { thisMachine } from "../environment.ts";

/**
 * Resolves when the signal is aborted. Of the processes of this machine that do it for one tenant of
 * one store, one works and the others wait for their turn.
 */
export async function followTranscripts(context: Context, signal: AbortSignal): Promise<void> {
  const { address, tenant } = context;
  // Loaded only now: whoever waits for an answer meanwhile does not pay for it.
  const { watchPlaces } = await import("../../archive/watch.ts");
  const { backendOf, open } = await import("../../open.ts");
  const environment = thisMachine();
  const work = async (turn: AbortSignal) => {
    // A store of its own, on threads: much is written, and answers must not wait for it.
    const engine = await open(address, { durability: "process" });
    try {
      await watchPlaces(engine.forTenant(tenant), { environment, signal: turn });
    } finally {
      await engine.close();
    }
  };
  const isFile = backendOf(address) === "sqlite";
  // Only processes of this machine can read its transcripts: for a server, the lease is kept at home.
  const file = isFile
    ? `${resolve(address)}.ingest-${tenant}.lease`
    : join(environment.home, ".backscroll", `${shortHash(address)}.ingest-${tenant}.lease`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lease = new IngestLease({
    ...{ file, pid: process.pid, machine: hostname() },
    token: `${process.pid}-${process.hrtime.bigint()}`,
  });
  await workInTurn({ lease, signal, work });
}
