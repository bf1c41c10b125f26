/** Connects to a remote engine by address. */

import { hidePasswords } from "../api/error.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { describe } from "../model/json.ts";
import { Connection } from "./connection.ts";
import { notOurs } from "./failure.ts";
import { type RemoteAccess, RemoteEngine } from "./remote-engine.ts";

export interface ConnectOptions {
  /** The access token; a server on loopback may need none. */
  readonly token?: string;
  /** Replaces `fetch`. */
  readonly fetch?: typeof fetch;
  /** The timeout of a request. Default 60,000. Model calls and maintenance may take longer. */
  readonly timeoutMs?: number;
  /** The limit of retries of a repeatable request. Default 4. */
  readonly retries?: number;
  /**
   * The access that this server reported before: `connect` then sends nothing, and the first call
   * validates it.
   */
  readonly access?: RemoteAccess;
}

const TIMEOUT_MS = 60_000;
const RETRIES = 4;

/**
 * Connects to a server, `http://host:7423` or `https://…`, and checks the address and the token,
 * unless `access` is given.
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

/** Without a trailing slash; a proxy may add a path. */
function checkAddress(url: unknown): string {
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:/i.test(url)) {
    const given = typeof url === "string" ? `"${hidePasswords(url).slice(0, 80)}"` : describe(url);
    throw invalidAddress(`a server is written as in http://127.0.0.1:7423, not ${given}`);
  }
  const { username, password, search, hash, origin, pathname } = new URL(url);
  if (username !== "" || password !== "" || search !== "" || hash !== "") {
    throw invalidAddress(
      "the address of a server must not contain a token, a password or a query; pass the token separately",
    );
  }
  return origin + pathname.replace(/(?<!\/)\/+$/, "");
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
    "access must be the `access` of an engine that `connect` gave; without it, the server is asked",
    { details: { field: "access" } },
  );
}

function invalidAddress(message: string): BackscrollError {
  return new BackscrollError("invalid_address", message);
}

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** Later versions of undici keep it beside their own. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

/**
 * `fetch` for responses that take long to begin.
 *
 * Node's gives up without headers after 300 seconds, which a copy or a verification of a large
 * store may take. A per-request dispatcher, under undici's documented global symbol, raises the
 * limit. Browsers have none.
 */
const patientFetch: typeof fetch = (input, init) =>
  fetch(input, { ...init, ...withPatience() } as RequestInit);

/** Uses the host's usual connections, also with a custom dispatcher. */
function withPatience(): { readonly dispatcher?: Dispatcher } {
  // Read on demand: the host may replace it at any time.
  const usual = (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER];
  if (usual === undefined) return {};
  return {
    dispatcher: {
      dispatch: (options, handler) => usual.dispatch({ ...options, headersTimeout: 0 }, handler),
    },
  };
}
