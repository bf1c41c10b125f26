/** From an address to an engine that is somewhere else. */

import { hidePasswords } from "../api/address.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { describe } from "../model/json.ts";
import { Connection } from "./connection.ts";
import { notOurs } from "./failure.ts";
import { patientFetch } from "./patient-fetch.ts";
import { type RemoteAccess, RemoteEngine } from "./remote-engine.ts";

export interface ConnectOptions {
  /** The access token; a server on loopback may need none. */
  readonly token?: string;
  /** The host's own way to send a request; `fetch` if left out. */
  readonly fetch?: typeof fetch;
  /** How long a request may take: 60,000 if left out. What a model writes, and upkeep, may take longer. */
  readonly timeoutMs?: number;
  /** How often a request that may safely be sent again is: 4 times if left out. */
  readonly retries?: number;
  /**
   * What this server has said of the caller already: then `connect` sends nothing, and the first call
   * finds out whether it still holds.
   */
  readonly access?: RemoteAccess;
}

const TIMEOUT_MS = 60_000;
const RETRIES = 4;

/**
 * Connects to a server, `http://host:7423` or `https://…`, and checks the address and the token, unless
 * `access` says what the server would.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteEngine> {
  checkFields(options, "options", INPUTS.connect);
  const { token, timeoutMs = TIMEOUT_MS, retries = RETRIES } = options;
  const address = checkAddress(url);
  if (token !== undefined) checkToken(token);
  const connection = new Connection({
    address,
    token,
    timeoutMs,
    retries,
    fetch: options.fetch ?? ((...request) => fetch(...request)),
    patientFetch: options.fetch ?? patientFetch,
  });
  if (options.access !== undefined && !isAccess(options.access)) throw invalidAccess();
  const access: unknown =
    options.access ?? (await connection.call({ method: "GET", path: "/v1/access" }));
  if (!isAccess(access)) throw notOurs(address);
  return new RemoteEngine(connection, access);
}

function isAccess(value: unknown): value is RemoteAccess {
  const { server, tenant } = (value ?? {}) as Partial<RemoteAccess>;
  return server === "backscroll" && typeof tenant === "string";
}

/** Without a slash at its end; there may be a path, where a proxy has one. */
function checkAddress(url: unknown): string {
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:/i.test(url)) {
    const given = typeof url === "string" ? `"${hidePasswords(url).slice(0, 80)}"` : describe(url);
    throw invalidAddress(`a server is written as in http://127.0.0.1:7423, not ${given}`);
  }
  const { username, password, search, hash, origin, pathname } = new URL(url);
  if (username !== "" || password !== "" || search !== "" || hash !== "") {
    throw invalidAddress(
      "the address of a server holds neither a token nor a password nor a query; the token is handed over beside it",
    );
  }
  return origin + pathname.replace(/\/+$/, "");
}

function checkToken(token: unknown): void {
  if (typeof token === "string" && /^[\x21-\x7e]{1,512}$/.test(token)) return;
  throw new BackscrollError(
    "invalid_input",
    "the token must be 1 to 512 visible ASCII characters; is a line break or a quote left in it?",
    { details: { field: "token" } },
  );
}

function invalidAccess(): BackscrollError {
  return new BackscrollError(
    "invalid_input",
    "access must be the `access` of an engine that `connect` gave; leave it out, and the server is asked",
    { details: { field: "access" } },
  );
}

function invalidAddress(message: string): BackscrollError {
  return new BackscrollError("invalid_address", message);
}
