/**
 * `fetch` for responses that take long to begin.
 *
 * Node's gives up without headers after 300 seconds, which a copy or a verification of a large
 * store may take. A per-request dispatcher, under undici's documented global symbol, raises the
 * limit. Browsers have none.
 */

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** Later versions of undici keep it beside their own. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

export const patientFetch: typeof fetch = (input, init) =>
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
