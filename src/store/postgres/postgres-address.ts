/** Parses `postgres://…` addresses: checked, split by host, and shown without their password. */

import { BackscrollError } from "../../model/errors.ts";

/** The required role of a server; `any` is the first that answers. */
export type Role = "primary" | "standby" | "prefer-standby" | "any";

export interface PostgresAddress {
  /** One address for each host, in order. */
  readonly hosts: readonly string[];
  /** Undefined if the address does not say: a writable store then needs the primary. */
  readonly role: Role | undefined;
  /** The parts that may be shown: user, hosts, ports and database. */
  readonly shown: string;
}

/** libpq's names of server roles. */
const ROLES: Readonly<Record<string, Role>> = {
  "read-write": "primary",
  primary: "primary",
  "read-only": "standby",
  standby: "standby",
  "prefer-standby": "prefer-standby",
  any: "any",
};
const ROLE_PARAMETER = "target_session_attrs";

/**
 * Hosts are separated by commas, as in `postgres://user:password@host1:5432,host2:5432/database`.
 *
 * Throws `invalid_address`. The message does not repeat the address, which may hold a password.
 */
export function parseAddress(address: string): PostgresAddress {
  const parts = /^([a-z]+:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/is.exec(address);
  const [, scheme = "", user = "", hosts = "", rest = ""] = parts ?? [];
  const urls = hosts.split(",").map((host) => toUrl(`${scheme}${user}${host}${rest}`));
  const [first] = urls as [URL, ...URL[]];
  const requested = first.searchParams.get(ROLE_PARAMETER);
  const role = requested === null ? undefined : ROLES[requested];
  if (requested !== null && role === undefined) {
    throw new BackscrollError(
      "invalid_address",
      `${ROLE_PARAMETER} must be one of ${Object.keys(ROLES).join(", ")}, not ${JSON.stringify(requested)}`,
      { details: { field: ROLE_PARAMETER } },
    );
  }
  const name = first.username === "" ? "" : `${first.username}@`;
  const shownHosts = urls.map((url) => url.host).join(",");
  return {
    hosts: urls.map(withoutRole),
    role,
    shown: `${first.protocol}//${name}${shownHosts}${first.pathname}`,
  };
}

function toUrl(address: string): URL {
  try {
    return new URL(address);
  } catch {
    throw new BackscrollError(
      "invalid_address",
      "the address is not of the form postgres://user:password@host:port/database; encode special characters of the password as %XX",
    );
  }
}

/** The driver would send unknown parameters to the server as settings. */
function withoutRole(url: URL): string {
  if (!url.searchParams.has(ROLE_PARAMETER)) return url.href;
  url.searchParams.delete(ROLE_PARAMETER);
  return url.href;
}
