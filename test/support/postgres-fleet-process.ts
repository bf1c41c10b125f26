/**
 * A primary and a standby in a separate process, controlled by JSON lines: `[call, server]` in, the
 * answer out. They stop at the end of input, so that none outlives a killed test.
 */

import { createInterface } from "node:readline";
import { fastFolder } from "./fast-folder.ts";
import { FLEET_ROOM_BYTES, type FleetOptions, PostgresFleet } from "./postgres-fleet.ts";

type Call = readonly [
  name: "start" | "stop" | "kill" | "promote" | "follow" | "synchronize",
  server: number,
  primary?: number,
];

const options = JSON.parse(process.argv[2] ?? "{}") as FleetOptions;
const parent = options.parent ?? (await fastFolder(FLEET_ROOM_BYTES));
const fleet = await PostgresFleet.start(parent, options);
try {
  process.stdout.write(`${JSON.stringify(fleet.ports)}\n`);
  for await (const line of createInterface(process.stdin)) {
    const [name, server, primary = 0] = JSON.parse(line) as Call;
    await fleet[name](server, primary);
    process.stdout.write("null\n");
  }
} finally {
  await fleet.end();
}
