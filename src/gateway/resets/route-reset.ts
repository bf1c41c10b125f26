/** Applies the configured reset rules to the session of a key. */

import type { Session } from "../../model/session.ts";
import {
  channelOf,
  type DueReset,
  dueReset,
  nextReset,
  type ResetPolicy,
  readSessionKey,
  resetTypeOf,
  resolveResetPolicy,
} from "../../routing/resets.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";

type Times = Pick<Session, "startedAt" | "lastInteractionAt">;

/** `channel` is the sender's channel: a key that joins channels names none. */
export function policyOf(config: GatewayConfig, key: string, channel?: string): ResetPolicy {
  const parsed = readSessionKey(key);
  const given = channel?.trim().toLowerCase() ?? "";
  const named = given === "" ? channelOf(parsed) : given;
  return resolveResetPolicy(config.session, resetTypeOf(parsed), named);
}

/** Why the route's session is due for a reset; undefined if it is not. */
export function resetDue(
  config: GatewayConfig,
  key: string,
  times: Times,
  now: number,
  channel?: string,
): DueReset | undefined {
  return dueReset(policyOf(config, key, channel), times, now, config.session.timeZone);
}

export function resetAhead(
  config: GatewayConfig,
  key: string,
  times: Times,
  channel?: string,
): DueReset | undefined {
  return nextReset(policyOf(config, key, channel), times, config.session.timeZone);
}

/** The rule as a sentence for users. */
export function explainPolicy(config: GatewayConfig, key: string, channel?: string): string {
  const { mode, atHour, idleMinutes } = policyOf(config, key, channel);
  const hour = `${String(atHour).padStart(2, "0")}:00`;
  const silence = `after ${idleMinutes} ${idleMinutes === 1 ? "minute" : "minutes"} of silence`;
  if (mode === "manual") return "only by command";
  if (mode === "idle") return silence;
  const daily = `daily at ${hour} (${config.session.timeZone})`;
  return idleMinutes === null ? daily : `${daily}, or ${silence}, whichever comes first`;
}
