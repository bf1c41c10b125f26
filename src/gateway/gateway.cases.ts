/** A gateway over a store in memory, with a clock that tests set. */

import { onTestFinished } from "vitest";
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
  readonly models?: Readonly<Record<string, TextModel>>;
}

export const START: number = Date.parse("2026-05-04T12:00:00Z");

export async function testGateway(
  config: GatewayConfigInput = {},
  { address = ":memory:", models = {}, ...options }: TestOptions = {},
): Promise<TestGateway> {
  let now = START;
  const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
  const engine = await open(address, { models, source: { now: () => now, random } });
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
