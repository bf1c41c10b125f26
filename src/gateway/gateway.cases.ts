/** A gateway over a store of its own, on both databases, with a clock that tests set. */

import { onTestFinished } from "vitest";
import { createDatabase } from "../../test/support/postgres.ts";
import type { Engine } from "../engine/engine.ts";
import type { TextModel } from "../model/text-model.ts";
import { open } from "../open.ts";
import type { GatewayConfigInput } from "./config/gateway-config.ts";
import { type Gateway, type GatewayOptions, openGateway } from "./gateway.ts";

export interface TestGateway {
  readonly engine: Engine;
  readonly gateway: Gateway;
  /** Sets the clock: of the gateway and of the store. */
  at(time: string | number): void;
}

export interface TestOptions extends GatewayOptions {
  readonly address?: string;
  readonly tenant?: string;
  readonly models?: Readonly<Record<string, TextModel>>;
}

export const START: number = Date.parse("2026-05-04T12:00:00Z");

export async function testGateway(
  config: GatewayConfigInput = {},
  { address = ":memory:", tenant = "default", models = {}, ...options }: TestOptions = {},
): Promise<TestGateway> {
  let now = START;
  const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
  const engine = await open(address, { tenant, models, source: { now: () => now, random } });
  onTestFinished(() => engine.close());
  const { session = {}, ...rest } = config;
  const utc = { ...rest, session: { timeZone: "UTC", ...session } };
  return {
    engine,
    gateway: openGateway(engine, utc, { now: () => now, ...options }),
    at: (time) => {
      now = typeof time === "number" ? time : Date.parse(time);
    },
  };
}

/** For `describe.each`: the tests of a file share a database on PostgreSQL, and each has a tenant. */
export const BACKENDS: readonly [string, typeof testGateway][] = [
  ["SQLite", testGateway],
  ["PostgreSQL", onPostgres],
];

let database: Promise<string> | undefined;
let tenants = 0;

async function onPostgres(
  config: GatewayConfigInput = {},
  options: TestOptions = {},
): Promise<TestGateway> {
  database ??= createDatabase();
  const own = { address: await database, tenant: `tenant-${++tenants}` };
  return testGateway(config, { ...own, ...options });
}
