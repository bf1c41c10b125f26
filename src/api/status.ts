/** The status of a store, on the wire. */

import { LOSS, STORE_STATUS } from "../model/answers/store.ts";
import type { StoreLoss } from "../model/store-loss.ts";
import type { StoreStatus } from "../store/records.ts";
import { hidePasswords } from "./error.ts";
import { fromWire, toWire, type WireOf } from "./shape.ts";

export type WireStatus = WireOf<typeof STORE_STATUS>;
export type WireLoss = WireOf<typeof LOSS>;

export function toWireStatus(status: StoreStatus): WireStatus {
  const { address, followers } = status;
  return toWire(STORE_STATUS, {
    ...status,
    address: hidePasswords(address),
    followers: followers.map((each) => ({ ...each, address: hidePasswords(each.address) })),
  });
}

export function fromWireStatus(status: WireStatus): StoreStatus {
  return { ...fromWire(STORE_STATUS, status), losses: status.losses.map(fromWireLoss) };
}

export function fromWireLoss(wire: WireLoss): StoreLoss {
  const { commits = 0, kept = null, tenant = "", changes = 0, ...loss } = fromWire(LOSS, wire);
  const { kind, foundAt } = loss;
  return kind === "log" ? { kind, foundAt, commits, kept } : { kind, foundAt, tenant, changes };
}
