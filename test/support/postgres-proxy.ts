/**
 * Stands between a client and a PostgreSQL server, counts round trips, and cuts connections.
 *
 * What a client sends within a few milliseconds is passed on in one go, as a slow network would: one
 * such burst is one round trip. Answers pass at once.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { withAddress } from "./postgres.ts";

/** Longer than writing a burst takes, also on a busy machine: it is written in one go. */
const BURST_MS = 10;

/** What one client sent in one go. */
export interface Burst {
  /** 1, 2, 3 … in the order in which clients connected. */
  readonly connection: number;
  /** The bytes as Latin-1 text. */
  readonly text: string;
}

export interface PostgresProxy extends AsyncDisposable {
  /** Leads to the same database, through the proxy. */
  readonly address: string;
  /** What clients have sent so far. */
  readonly bursts: readonly Burst[];
  /** Passes nothing on any more and closes nothing, as a machine without power does. */
  freeze(): void;
  /** Ends all connections, as a broken network does. */
  cut(): void;
  /** Does so once, right after the next burst that holds `word`: the server gets it and answers in vain. */
  cutAfter(word: string): void;
}

export async function startProxy(address: string): Promise<PostgresProxy> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  const bursts: Burst[] = [];
  let connections = 0;
  let cutWord: string | undefined;
  let isFrozen = false;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };

  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const connection = ++connections;
    let waiting: Buffer[] = [];
    const passOn = () => {
      const burst = Buffer.concat(waiting);
      waiting = [];
      if (isFrozen) return;
      const text = burst.toString("latin1");
      bursts.push({ connection, text });
      upstream.write(burst);
      if (cutWord === undefined || !text.includes(cutWord)) return;
      cutWord = undefined;
      // The server still reads what was sent.
      sockets.delete(upstream);
      upstream.end();
      cut();
    };
    client.on("data", (bytes) => {
      waiting.push(bytes);
      if (waiting.length === 1) setTimeout(passOn, BURST_MS);
    });
    upstream.on("data", (bytes) => {
      if (!client.destroyed && !isFrozen) client.write(bytes);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        if (!other.writableEnded) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  const port = typeof bound === "object" && bound ? bound.port : 0;

  return {
    address: withAddress(address, (url) => {
      url.port = String(port);
    }),
    bursts,
    freeze() {
      isFrozen = true;
    },
    cut,
    cutAfter(word) {
      cutWord = word;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
