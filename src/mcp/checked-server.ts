/**
 * The SDK's server with our own parameter checks: the SDK answers wrong parameters with a schema
 * dump, mostly as an internal error.
 */

import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type CalledThing, toInputError } from "./input-error.ts";

/** The protocol's levels, from RFC 5424. */
const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

const NO_PARAMS = z.object({ cursor: z.string().optional() });
const ONE_URI = z.object({ uri: z.string() });
const OF_A_SESSION = { uri: "session://01JABCDEFGHJKMNPQRSTVWXYZ0" };

/** Parameters and an example of each method. Other methods have no parameters to check. */
const METHODS: Readonly<Record<string, Omit<CalledThing, "name">>> = {
  "tools/list": { input: NO_PARAMS, example: {} },
  "tools/call": {
    input: z.object({
      name: z.string(),
      arguments: z.record(z.string(), z.unknown()).optional(),
    }),
    example: { name: "search_sessions", arguments: { query: "cron lock" } },
  },
  "prompts/list": { input: NO_PARAMS, example: {} },
  "prompts/get": {
    input: z.object({
      name: z.string(),
      arguments: z.record(z.string(), z.string()).optional(),
    }),
    example: { name: "what_did_we_decide", arguments: { topic: "the cron lock" } },
  },
  "resources/list": { input: NO_PARAMS, example: {} },
  "resources/templates/list": { input: NO_PARAMS, example: {} },
  "resources/read": { input: ONE_URI, example: OF_A_SESSION },
  "resources/subscribe": { input: ONE_URI, example: OF_A_SESSION },
  "resources/unsubscribe": { input: ONE_URI, example: OF_A_SESSION },
  "logging/setLevel": { input: z.object({ level: z.enum(LEVELS) }), example: { level: "info" } },
};

type WrappedHandler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

export class CheckedServer extends Server {
  protected override _wrapHandler(method: string, handler: WrappedHandler): WrappedHandler {
    const wrapped = super._wrapHandler(method, handler);
    const known = METHODS[method];
    if (known === undefined) return wrapped;
    return async (request, context) => {
      checkParams({ ...known, name: method }, request.params ?? {});
      return wrapped(request, context);
    };
  }
}

function checkParams(called: CalledThing, params: unknown): void {
  const parsed = called.input.safeParse(params);
  if (parsed.success) return;
  const { code, message, details } = toInputError(parsed.error, params, called);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { code, message, details });
}
