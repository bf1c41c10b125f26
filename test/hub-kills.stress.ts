/** As in `hub.test.ts`, two hundred times. */

import { afterAll, beforeAll, test } from "vitest";
import { survivesKills } from "./support/hub-kills.ts";
import { Machine } from "./support/hub-machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
});
afterAll(() => machine.end());

test("two hundred kills of the process behind the agents lose and repeat nothing", async () => {
  await survivesKills(machine, 200);
}, 900_000);
