/** Names of the loopback interface, and local callers. */

export const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/;
/** Headers of a reverse proxy on this machine whose caller is elsewhere. */
const PROXY_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host"] as const;

/** Whether the answer stays on this machine, as far as the request shows. */
export function staysOnMachine(remoteAddress: string | undefined, headers: Headers): boolean {
  if (!LOOPBACK_ADDRESS.test(remoteAddress ?? "")) return false;
  return !PROXY_HEADERS.some((name) => headers.has(name));
}
