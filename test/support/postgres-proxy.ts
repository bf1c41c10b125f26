/**
 * A TCP proxy before PostgreSQL that counts round trips, cuts connections, and answers as PgBouncer does
 * while its database is away.
 *
 * It coalesces the client's bytes of a few milliseconds into one burst, which counts as one round trip.
 * Answers pass at once.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { withAddress } from "./postgres.ts";
import { poolerError } from "./transaction-pooler.ts";

/** Longer than a client takes to write a burst, also on a busy machine. */
const BURST_MS = 10;

/** One burst of a client. */
export interface Burst {
  /** The connection's number, from 1. */
  readonly connection: number;
  /** The bytes as Latin-1 text. */
  readonly text: string;
}

/**
 * What PgBouncer 1.18 says, as recorded from it, before it closes a client's connection: to a statement
 * or a new client while it cannot log in at the database, and to a client whose transaction breaks.
 */
const FAILING = "server login has been failing, try again later (server_login_retry)";
const CRASHED = "server conn crashed?";

/** The last byte of ReadyForQuery outside of a transaction. */
const IDLE = "Z\0\0\0\x05I";

export interface PostgresProxy extends AsyncDisposable {
  /** The address of the same database through the proxy. */
  readonly address: string;
  /** All bursts so far. */
  readonly bursts: readonly Burst[];
  /** Drops all traffic without closing connections, like a machine without power. */
  freeze(): void;
  /** Resets all connections. */
  cut(): void;
  /** The database is away: clients are told so in PgBouncer's words until `comeBack`. */
  leave(): void;
  comeBack(): void;
  /** How many connections and statements were refused because the database is away. */
  readonly refused: number;
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
  let isAway = false;
  let refused = 0;
  const leaving = new Set<() => void>();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };

  const refuse = (client: Socket) => {
    sockets.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => sockets.delete(client));
    client.once("data", () => {
      refused++;
      client.end(poolerError(FAILING));
    });
  };

  const server: Server = createServer((client) => {
    if (isAway) return refuse(client);
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
    let isIdle = false;
    const leave = () => {
      client.removeAllListeners("data");
      if (isIdle) refuse(client);
      else client.end(poolerError(CRASHED));
      // Not the client, whom its own handler would destroy with it.
      upstream.removeAllListeners("close").destroy();
      sockets.delete(upstream);
    };
    leaving.add(leave);
    client.on("data", (bytes) => {
      isIdle = false;
      waiting.push(bytes);
      if (waiting.length === 1) setTimeout(passOn, BURST_MS);
    });
    upstream.on("data", (bytes) => {
      isIdle = bytes.toString("latin1").endsWith(IDLE);
      if (!client.destroyed && !isFrozen) client.write(bytes);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        leaving.delete(leave);
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
    leave() {
      isAway = true;
      for (const leave of leaving) leave();
      leaving.clear();
    },
    comeBack() {
      isAway = false;
    },
    get refused() {
      return refused;
    },
    cutAfter(word) {
      cutWord = word;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
