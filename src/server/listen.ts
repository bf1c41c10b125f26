/**
 * Starts listening, at a port and beside it at a Unix socket that only its owner may open, and
 * stops gracefully.
 */

import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:http";
import { connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { BackscrollError } from "../model/errors.ts";
import type { createApp } from "./app.ts";

interface Listening {
  readonly url: string;
  readonly port: number;
  /** Listens at a Unix socket too; gives its path if that succeeded. */
  alsoAt(path: string, onConnection: (socket: object) => void): Promise<string | undefined>;
  /** Refuses new requests, waits for those in progress, and cuts off those that take too long. */
  close(patienceMs?: number): Promise<void>;
}

const PATIENCE_MS = 10_000;

/** How long a connection may be idle: longer than proxies keep theirs. */
const KEEP_ALIVE_MS = 65_000;

export async function listen(
  app: ReturnType<typeof createApp>,
  where: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const server = createHttpServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, where)));
    server.listen(where.port, where.host, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : where.port;
  let second: Server | undefined;
  const name = where.host.includes(":") ? `[${where.host}]` : where.host;
  return {
    url: `http://${name}:${port}`,
    port,
    alsoAt: async (path, onConnection) => {
      const atSocket = createHttpServer(app).on("connection", onConnection);
      if (!(await listenAtSocket(atSocket, path))) return undefined;
      second = atSocket;
      return path;
    },
    close: async (patienceMs = PATIENCE_MS) => {
      const servers = [server, ...(second === undefined ? [] : [second])];
      await Promise.all(servers.map((each) => close(each, patienceMs)));
    },
  };
}

export function createHttpServer(app: Pick<ReturnType<typeof createApp>, "fetch">): Server {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // An import may take any time to arrive; headers may not, and Node's own limit applies.
  server.requestTimeout = 0;
  return server;
}

async function close(server: Server, patienceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), patienceMs);
  // An answered connection becomes idle; without this it would be kept alive.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearTimeout(timer);
  clearInterval(idle);
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return refused("port", `port ${port} is taken; is a server running already? Else use --port`);
    case "EACCES":
      return refused("port", `port ${port} may not be used; choose one over 1023 with --port`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return refused("host", `${host} is not an address of this machine`);
    default:
      return error;
  }
}

function refused(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

/** Linux takes 107 bytes, macOS 103. */
const MAX_PATH = 103;

/**
 * Lets `server` listen at `path` too. Gives false where that is impossible: the path is too long,
 * or another server listens there. A socket that a killed server left is replaced.
 */
async function listenAtSocket(server: Server, path: string): Promise<boolean> {
  if (process.platform === "win32" || Buffer.byteLength(path) > MAX_PATH) return false;
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined) {
    if (!there.isSocket() || (await isAlive(path))) return false;
    await unlink(path).catch(() => undefined);
  }
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    // The file appears with this mode, within the call.
    const mask = process.umask(0o177);
    try {
      server.listen({ path }, () => resolve(true));
    } finally {
      process.umask(mask);
    }
  });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const end = (alive: boolean) => {
      socket.destroy();
      resolve(alive);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
