/**
 * A TCP proxy before PostgreSQL that counts round trips and cuts connections.
 *
 * It coalesces the client's bytes of a few milliseconds into one burst, which counts as one round trip.
 * Answers pass at once.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { withAddress } from "./postgres.ts";

/** Longer than a client takes to write a burst, also on a busy machine. */
const BURST_MS = 10;

/** One burst of a client. */
export interface Burst {
  /** The connection's number, from 1. */
  readonly connection: number;
  /** The bytes as Latin-1 text. */
  readonly text: string;
}

export interface PostgresProxy extends AsyncDisposable {
  /** The address of the same database through the proxy. */
  readonly address: string;
  /** All bursts so far. */
  readonly bursts: readonly Burst[];
  /** Drops all traffic without closing connections, like a machine without power. */
  freeze(): void;
  /** Resets all connections. */
  cut(): void;
  /** Resets them once, right after the next burst with `word`: the server executes it, the answer is lost. */
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
      // The server still receives the burst.
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
