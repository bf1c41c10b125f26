/** A real server over a SQLite file, a client, and a proxy between them that can be cut. */

import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Engine } from "../engine/engine.ts";
import { open } from "../open.ts";
import { openServer, type RunningServer, type ServerOptions } from "../server/serve.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import type { RemoteEngine } from "./remote-engine.ts";

export interface ServedStore {
  /** The store itself, in this process. */
  readonly engine: Engine;
  readonly remote: RemoteEngine;
  readonly line: Line;
  /** Stops the server and starts another one on the same port and store. */
  restart(): Promise<void>;
  connect(options?: ConnectOptions): Promise<RemoteEngine>;
}

/** Everything is removed when the test is over, or by `atEnd`. */
export async function serveStore(
  options: Partial<ServerOptions> & { readonly leaseMs?: number } = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<ServedStore> {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-client-"));
  const { leaseMs = 30_000, ...rest } = options;
  const engine = await open(join(folder, "store.db"), { leaseMs, inThread: true });
  const start = (port: number) => openServer(engine, { version: "0.0.0", port, ...rest });
  let server: RunningServer = await start(0);
  const line = await Line.open(server.port);
  const clients: RemoteEngine[] = [];
  const connectTo = async (own: ConnectOptions = {}) => {
    const client = await connect(line.url, own);
    clients.push(client);
    return client;
  };
  const remote = await connectTo();
  atEnd(async () => {
    for (const client of clients) await client.close();
    await line.close();
    await server.stop(100);
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    engine,
    remote,
    line,
    connect: connectTo,
    restart: async () => {
      await server.stop(100);
      server = await start(server.port);
    },
  };
}

/** A proxy that records every request and can drop answers. */
export class Line {
  readonly url: string;
  /** The requests, as in `POST /v1/search`. */
  readonly requests: string[] = [];
  #lose: RegExp | undefined;
  #times = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async open(port: number): Promise<Line> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Line(server, port);
  }

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    server.on("connection", (client) => this.#join(client, port));
  }

  /** The next `times` matching requests are carried out, and their answers dropped. */
  loseAnswers(match: RegExp, times = 1): void {
    this.#lose = match;
    this.#times = times;
  }

  /** Cuts every connection at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(client: Socket, port: number): void {
    const server = connectSocket(port, "127.0.0.1");
    let isLosing = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on("data", (data) => {
      const [, request] = /^([A-Z]+ [^\s?]+)\S* HTTP\/1\.1\r\n/.exec(data.toString("latin1")) ?? [];
      if (request !== undefined) {
        this.requests.push(request);
        isLosing = this.#times > 0 && (this.#lose?.test(request) ?? false);
        if (isLosing) this.#times--;
      }
      server.write(data);
    });
    server.on("data", (data) => {
      if (isLosing) client.destroy();
      else client.write(data);
    });
  }
}
