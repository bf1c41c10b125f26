/**
 * A primary and a standby in a process of its own, told what to do by lines of JSON: `[call, server]`
 * in, its answer out. They end with its input, so that none outlives a killed test.
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
