/**
 * The workstation of a session.
 *
 * The same session id may exist on two machines: a copied home folder, a synchronised disk. Both
 * are kept, because the workstation is part of a session's key. The id is a hash, so that it does
 * not disclose the machine.
 */

import { hostname } from "node:os";
import { BackscrollError } from "../../model/errors.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Environment } from "../source.ts";
import { readMachineId } from "./machine-id.ts";
import { shortHash } from "./short-hash.ts";
import { thisMachine } from "./this-machine.ts";

/** Allowed values of `WORKSTATION_ID`: no colon, which separates the parts of keys. */
const ALLOWED = /^[A-Za-z0-9._-]{1,64}$/;

/** `WORKSTATION_ID`, else eight hex digits that are stable on this machine. */
export async function workstationId(environment: Environment = thisMachine()): Promise<string> {
  checkPart(environment, "environment", INPUTS.environment);
  // An empty variable counts as unset.
  const given = environment.variables["WORKSTATION_ID"] || undefined;
  if (given === undefined) return hashWorkstation(hostname(), await readMachineId(environment));
  if (ALLOWED.test(given)) return given;
  throw new BackscrollError(
    "invalid_input",
    `WORKSTATION_ID must be 1 to 64 letters, digits, dots, dashes or underscores, not "${given}"`,
    { details: { field: "WORKSTATION_ID" } },
  );
}

export function hashWorkstation(host: string, machineId: string): string {
  return shortHash(host + machineId);
}
