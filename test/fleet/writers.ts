/** Callers that write to a session through several nodes, across server failures. */

import { pause } from "../../src/async/pause.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { TenantApi } from "../../src/engine/interfaces.ts";
import type { VerifyReport } from "../../src/engine/verify/verify.ts";
import { textOf } from "../../src/index.ts";

export interface Writers {
  /** Texts of acknowledged messages. */
  readonly acknowledged: readonly string[];
  /** Errors of failed appends; each was retried. */
  readonly failures: readonly unknown[];
  stop(): Promise<void>;
}

/** Between two attempts of a writer. */
const RETRY_MS = 10;

/** Each repeats a message under its key until it is acknowledged, as a client does. */
export function startWriters(nodes: readonly TenantApi[], id: string, eachNode = 2): Writers {
  const acknowledged: string[] = [];
  const failures: unknown[] = [];
  let isWriting = true;
  const write = async (node: TenantApi, name: string) => {
    for (let i = 0; isWriting; i++) {
      const content = `message ${name}.${i}`;
      const message = { role: "user", actor: "ana", content } as const;
      for (let isStored = false; !isStored; ) {
        try {
          await node.session(id).append(message, { idempotencyKey: content });
          isStored = true;
        } catch (error) {
          failures.push(error);
          await pause(RETRY_MS);
        }
      }
      acknowledged.push(content);
    }
  };
  const running = nodes.flatMap((node, n) =>
    Array.from({ length: eachNode }, (_, w) => write(node, `${n}.${w}`)),
  );
  return {
    acknowledged,
    failures,
    stop: async () => {
      isWriting = false;
      await Promise.all(running);
    },
  };
}

/** Follows the whole feed through a node, and gives the positions so far. */
export function follow(node: TenantApi): {
  readonly heard: readonly number[];
  stop(): Promise<void>;
} {
  const heard: number[] = [];
  const stop = new AbortController();
  const following = (async () => {
    for await (const { position } of node.subscribe({ after: "start", signal: stop.signal })) {
      heard.push(position);
    }
  })();
  // Ended by `stop`.
  following.catch(() => undefined);
  return {
    heard,
    stop: async () => {
      stop.abort();
      await following;
    },
  };
}

/** The stored texts of a session, and whether its hashes verify. */
export async function readBack(
  engine: Engine,
  id: string,
): Promise<{ readonly stored: string[]; readonly report: VerifyReport }> {
  const stored: string[] = [];
  let page = await engine.session(id).listEntries({ limit: 500 });
  for (;;) {
    stored.push(...page.entries.map(({ blocks }) => textOf(blocks)));
    if (page.next === undefined) break;
    page = await engine.session(id).listEntries({ limit: 500, after: page.next });
  }
  return { stored, report: await engine.verify() };
}

/** Every position of the feed. */
export async function allPositions(engine: Engine): Promise<{ changes: number[]; head: number }> {
  const changes: number[] = [];
  for (let after = "start"; ; ) {
    const page = await engine.listChanges({ after, limit: 500 });
    changes.push(...page.changes.map(({ position }) => position));
    after = page.next;
    if (page.end) return { changes, head: changes.length };
  }
}
