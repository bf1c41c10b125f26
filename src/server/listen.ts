/** Starts listening, and stops gracefully. */

import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { BackscrollError } from "../model/errors.ts";
import type { createApp } from "./app.ts";
import { listenAtSocket } from "./unix-socket.ts";

export interface Listening {
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
