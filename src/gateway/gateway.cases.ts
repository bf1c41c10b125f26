/** A gateway over its own store, on both databases, with a clock that tests set. */

import { onTestFinished } from "vitest";
import { createDatabase } from "../../test/support/postgres.ts";
import { Engine, type EngineOptions } from "../engine/engine.ts";
import type { TextModel } from "../model/models.ts";
import { open, openStore } from "../open.ts";
import type { Store } from "../store/store.ts";
import type { GatewayConfigInput } from "./config/gateway-config.ts";
import { type Gateway, type GatewayOptions, openGateway } from "./gateway.ts";

export interface TestGateway {
  readonly engine: Engine;
  readonly gateway: Gateway;
  /** Sets the clock of the gateway and of the store. */
  at(time: string | number): void;
}

export interface TestOptions extends GatewayOptions {
  readonly address?: string;
  readonly models?: Readonly<Record<string, TextModel>>;
}

export const START: number = Date.parse("2026-05-04T12:00:00Z");

export function testGateway(
  config: GatewayConfigInput = {},
  { address = ":memory:", ...options }: TestOptions = {},
): Promise<TestGateway> {
  return gatewayOver(config, options, async (settings) => {
    const engine = await open(address, settings);
    onTestFinished(() => engine.close());
    return engine;
  });
}

/**
 * For `describe.each`. On PostgreSQL the tests of a process share a store, each under its own
 * tenant.
 */
export const BACKENDS: readonly [string, typeof testGateway][] = [
  ["SQLite", testGateway],
  ["PostgreSQL", onPostgres],
];

let shared: Promise<Store> | undefined;
let tenants = 0;

function onPostgres(
  config: GatewayConfigInput = {},
  options: TestOptions = {},
): Promise<TestGateway> {
  shared ??= createDatabase().then((address) => openStore(address));
  const store = shared;
  const tenant = `tenant-${++tenants}`;
  return gatewayOver(config, options, async (settings) => {
    return new Engine(await store, { ...settings, tenant });
  });
}

async function gatewayOver(
  config: GatewayConfigInput,
  { models = {}, ...options }: TestOptions,
  opened: (settings: Pick<EngineOptions, "models" | "source">) => Promise<Engine>,
): Promise<TestGateway> {
  let now = START;
  const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
  const engine = await opened({ models, source: { now: () => now, random } });
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
