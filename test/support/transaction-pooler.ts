/**
 * The strictest pooler in transaction mode: each transaction of a client runs on another connection than
 * the previous one. It refuses startup parameters, as PgBouncer does.
 */

import { connect, createServer, type Socket } from "node:net";
import { withAddress } from "./postgres.ts";

export interface TransactionPooler extends AsyncDisposable {
  /** The address of the same database through the pooler. */
  readonly address: string;
  /** The number of connection switches. */
  readonly switches: number;
}

/** Connections to the server for each client. */
const BACKENDS = 2;
/** The accepted startup parameters. */
const KNOWN_PARAMETERS = new Set(["user", "database", "client_encoding", "application_name"]);

const SYNC = 0x53;
const QUERY = 0x51;
const READY = 0x5a;
const PASSWORD = 0x70;
const IDLE = 0x49;

export async function startTransactionPooler(address: string): Promise<TransactionPooler> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let switches = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    // Each message waits for the answer to the one before.
    socket.setNoDelay();
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };

  const server = createServer((client) => {
    track(client);
    const backends = Array.from({ length: BACKENDS }, () =>
      track(connect(Number(target.port), target.hostname)),
    );
    client.on("close", () => {
      for (const backend of backends) backend.end();
    });
    for (const backend of backends) backend.on("close", () => client.destroy());

    let startup: Buffer | undefined;
    /** Messages up to the one that ends with ReadyForQuery. */
    const groups: Buffer[][] = [[]];
    let current = 0;
    let isWaiting = true;
    let ready = 0;

    const sendNext = () => {
      const [group] = groups;
      if (isWaiting || groups.length < 2 || group === undefined) return;
      groups.shift();
      isWaiting = true;
      backends[current]?.write(Buffer.concat(group));
    };

    splitMessages(client, {
      untyped: (packet) => {
        startup = packet;
        const unknown = parameters(packet).find((name) => !KNOWN_PARAMETERS.has(name));
        if (unknown !== undefined) {
          client.end(poolerError(`unsupported startup parameter: ${unknown}`));
          return;
        }
        for (const backend of backends) backend.write(packet);
      },
      typed: (type, message) => {
        if (type === PASSWORD && ready < BACKENDS) {
          for (const backend of backends) backend.write(message);
          return;
        }
        groups.at(-1)?.push(message);
        if (type !== SYNC && type !== QUERY) return;
        groups.push([]);
        sendNext();
      },
      isUntyped: () => startup === undefined,
    });

    for (const [i, backend] of backends.entries()) {
      splitMessages(backend, {
        untyped: () => undefined,
        typed: (type, message) => {
          if (ready < BACKENDS) {
            // The first connection's start-up messages go to the client.
            if (type === READY) ready++;
            if (i === 0 && type !== READY) client.write(message);
            if (ready === BACKENDS && type === READY) {
              client.write(message);
              isWaiting = false;
              sendNext();
            }
            return;
          }
          client.write(message);
          if (type !== READY) return;
          if (message[5] === IDLE) {
            current = (current + 1) % BACKENDS;
            switches++;
          }
          isWaiting = false;
          sendNext();
        },
        isUntyped: () => false,
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Unreferenced: does not keep the tests alive.
  server.unref();
  const bound = server.address();
  const port = typeof bound === "object" && bound ? bound.port : 0;
  return {
    address: withAddress(address, (url) => {
      url.port = String(port);
    }),
    get switches() {
      return switches;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Handlers {
  /** The first packet of a client has no type. */
  isUntyped(): boolean;
  untyped(packet: Buffer): void;
  typed(type: number, message: Buffer): void;
}

/** Splits a stream into messages of PostgreSQL's protocol. */
function splitMessages(socket: Socket, handlers: Handlers): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const at = handlers.isUntyped() ? 0 : 1;
      if (rest.length < at + 4) return;
      const length = at + rest.readInt32BE(at);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      if (at === 0) handlers.untyped(message);
      else handlers.typed(message[0] as number, message);
    }
  });
}

/** The parameter names of a startup packet: after length and version, pairs of strings. */
function parameters(packet: Buffer): string[] {
  const words = packet.subarray(8).toString("latin1").split("\0");
  return words.filter((word, i) => i % 2 === 0 && word !== "");
}

/** An ErrorResponse of PgBouncer: its bytes are recorded from version 1.18. */
export function poolerError(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
