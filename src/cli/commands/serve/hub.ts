import { randomUUID } from "node:crypto";
import type { Engine } from "../../../engine/engine.ts";
import { toErrorLine } from "../../../server/log.ts";
import { type Command, defineCommand, option } from "../../command.ts";
import { Follower, QUIET_SECONDS } from "../../follow.ts";
import { Hub } from "../../hub/hub.ts";
import { withOwnStore } from "../../store.ts";
import { toNumber } from "../../values.ts";

/** The unread lines of transcripts are looked for this often, after the last agent has left. */
const LOOK_MS = 500;

/** The index is warmed after the first agent has its first answers. */
const WARM_AFTER_MS = 2_000;
/** The agent that starts a hub needs a moment to find its socket. */
const FIRST_AGENT_MS = 5_000;

export const hub: Command = defineCommand({
  name: "hub",
  summary: "Serve all agents of this machine in one process.",
  details:
    "Agents need not start it: the first mcp does, and all further ones are thin pipes to it. It holds the store, its caches and the follower of transcripts, listens on a socket in ~/.backscroll/run that only its owner can open, and ends after the last agent, when the agents' last lines are stored. serve and watch take its place while they run. BACKSCROLL_HUB=off gives each agent a process of its own.",
  options: {
    "final-read": option(
      "SECONDS",
      `After the last agent has left, store new lines until this long without one; ${QUIET_SECONDS} if left out.`,
    ),
  },
  examples: ["hub --final-read 0"],
  run: async (context, _args, options) => {
    const quietMs = 1_000 * (toNumber(options["final-read"], "--final-read") ?? QUIET_SECONDS);
    const onError = (error: unknown) => context.terminal.note(toErrorLine(error));
    const opening = Promise.withResolvers<Engine>();
    // Whoever waits for the store gets the error, if there is one.
    opening.promise.catch(() => undefined);
    const stop = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(name, () => stop.abort());
    }
    let isRetired = false;
    let writtenAt = Date.now();
    const hub = await Hub.open(context, {
      engine: () => opening.promise,
      follow: (signal) =>
        new Follower(context, {
          signal,
          owner: randomUUID(),
          onError,
          engine: () => opening.promise,
          onOutcome: () => {
            writtenAt = Date.now();
          },
        }),
      onError,
      onRetired: () => {
        isRetired = true;
      },
    });
    if (hub === undefined) {
      context.terminal.note("Another process serves this store's agents already.");
      return;
    }
    const state = { isRetired: () => isRetired, writtenAt: () => writtenAt };
    const idle = untilIdle(hub, { quietMs, signal: stop.signal, ...state });
    try {
      const serve = async (engine: Engine) => {
        opening.resolve(engine);
        const { warmUp } = await import("../../../server/maintenance.ts");
        const warm = () =>
          warmUp(engine.forTenant(context.tenant), { signal: stop.signal, onError });
        setTimeout(() => void warm(), WARM_AFTER_MS).unref();
        await idle;
        await hub.close();
      };
      // One person's agents seldom search at once: threads for that take 50 MB and start slowly.
      await withOwnStore(context, "a hub", serve, "create", { searchThread: false });
    } catch (error) {
      opening.reject(error);
      // The agents that wait are told before the end.
      await new Promise(setImmediate);
      throw error;
    } finally {
      await hub.close();
    }
  },
});

interface IdleSettings {
  readonly quietMs: number;
  readonly signal: AbortSignal;
  readonly isRetired: () => boolean;
  /** When lines of a transcript were last stored. */
  readonly writtenAt: () => number;
}

/** Resolves when no agent is left, and none has written for a while. */
async function untilIdle(hub: Hub, settings: IdleSettings): Promise<void> {
  const { quietMs, signal, isRetired, writtenAt } = settings;
  let quietFor = Math.max(quietMs, FIRST_AGENT_MS);
  let usedAt = Date.now();
  while (!signal.aborted) {
    const lookMs = hub.callers > 0 ? LOOK_MS : Math.min(LOOK_MS, quietMs + 1);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    if (hub.callers > 0) [usedAt, quietFor] = [Date.now(), quietMs];
    else if (isRetired()) return;
    else if (Date.now() - Math.max(usedAt, writtenAt()) >= quietFor) {
      if (quietMs === 0 || (await hub.readRest()) === 0) return;
    }
  }
}
