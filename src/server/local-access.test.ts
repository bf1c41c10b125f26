import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { type Connection, localUser, staysOnMachine } from "./local-access.ts";

const IS_LINUX = process.platform === "linux";

/** A connection to a server at `host`, as the server sees it. */
async function connected(host: string, check: (socket: Socket) => void): Promise<void> {
  const { connect } = await import("node:net");
  const seen = Promise.withResolvers<Socket>();
  const server = createServer((socket) => seen.resolve(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: host === "::" ? "127.0.0.1" : host });
  try {
    check(await seen.promise);
  } finally {
    client.destroy();
    (await seen.promise).destroy();
    server.close();
  }
}

test.runIf(IS_LINUX)("the owner of a connection is known, over IPv4 and IPv6", async () => {
  const own = process.getuid?.() ?? 0;
  for (const host of ["127.0.0.1", "::1", "::"]) {
    await connected(host, (socket) => {
      expect([host, localUser(socket)]).toEqual([host, "own"]);
      expect([host, localUser(socket, undefined, own + 1)]).toEqual([host, "other"]);
    });
  }
});

/** The tables of a machine with a connection of user 1000 from port 43690 to 7423. */
const HEADER =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n";
const row = (state: string, uid: number, ends = "0100007F:AAAA 0100007F:1CFF") =>
  `   1: ${ends} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 9 1\n`;
const CONNECTION: Connection = {
  remoteAddress: "127.0.0.1",
  remotePort: 0xaaaa,
  localAddress: "127.0.0.1",
  localPort: 7423,
};
const ask = (rows: string, own = 1000) =>
  localUser(CONNECTION, (table) => (table === "tcp" ? HEADER + rows : HEADER), own);

// The rows are those of a little-endian machine.
const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

test.runIf(IS_LITTLE)("only an established connection counts", () => {
  expect(ask(row("01", 1000))).toBe("own");
  expect(ask(row("01", 33))).toBe("other");
  // Of a closing socket the table says root, whoever opened it.
  for (const closing of ["04", "05", "06", "08", "0B"]) {
    expect([closing, ask(row(closing, 0), 0)]).toEqual([closing, "unknown"]);
  }
  // Our own end of the connection is in the table, too: it is not the caller's.
  expect(ask(row("01", 1000, "0100007F:1CFF 0100007F:AAAA"))).toBe("unknown");
  expect(ask(row("01", 1000, "0100007F:AAAB 0100007F:1CFF"))).toBe("unknown");
});

test("a system without such a table does not tell", () => {
  const none = () => {
    throw new Error("ENOENT");
  };
  expect(localUser(CONNECTION, none, 1000)).toBe("unknown");
  expect(localUser(CONNECTION, () => HEADER, undefined)).toBe("unknown");
  expect(localUser({}, () => HEADER, 1000)).toBe("unknown");
});

test.each([
  ["127.0.0.1", {}, true],
  ["127.8.0.1", {}, true],
  ["::1", {}, true],
  ["::ffff:127.0.0.1", {}, true],
  ["192.168.0.7", {}, false],
  ["::ffff:10.0.0.1", {}, false],
  [undefined, {}, false],
  ["127.0.0.1", { "x-forwarded-for": "10.1.2.3" }, false],
  ["127.0.0.1", { forwarded: "for=10.1.2.3" }, false],
  ["::1", { via: "1.1 proxy" }, false],
] as const)("an answer to %s with %o stays on the machine: %s", (address, headers, stays) => {
  expect(staysOnMachine(address, new Headers(headers))).toBe(stays);
});
