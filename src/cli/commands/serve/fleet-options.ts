/** Further servers of a store on PostgreSQL, from `serve` and the environment. */

import { readVariable } from "../../../model/variables.ts";
import { usageError } from "../../command.ts";
import type { FleetOptions } from "../../store.ts";

/** Options take precedence over the environment. */
export function fleetOptions(
  replica: string | undefined,
  notify: string | undefined,
): FleetOptions {
  const replicas = toAddresses(
    replica ?? readVariable("BACKSCROLL_REPLICAS", process.env) ?? "",
    replica === undefined ? "BACKSCROLL_REPLICAS" : "--replica",
  );
  const how = notify ?? readVariable("BACKSCROLL_NOTIFY", process.env);
  if (how !== undefined && !["listen", "poll"].includes(how) && !isPostgres(how)) {
    throw usageError(`--notify must be listen, poll or postgres://…, not "${how}"`, "--notify");
  }
  return { replicas, ...(how === undefined ? {} : { notify: how }) };
}

/** One address may name several hosts, with commas: a new address begins with its scheme. */
function toAddresses(text: string, name: string): string[] {
  const addresses = text.split(/,\s*(?=postgres(?:ql)?:)|\s+/).filter((part) => part !== "");
  for (const address of addresses) {
    if (isPostgres(address)) continue;
    throw usageError(`${name} must be an address such as postgres://host/database`, name);
  }
  return addresses;
}

function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//i.test(address);
}
