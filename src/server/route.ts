/**
 * The description of a route: path, input, output, handler.
 *
 * Routing, validation and the OpenAPI document derive from it, so they cannot disagree.
 */

import { z } from "zod";
import type { JsonBounds } from "../api/read-json.ts";
import type { Engine } from "../engine/engine.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import type { GatewayConfig } from "../gateway/config/gateway-config.ts";
import type { Access, AccessScope } from "../model/access.ts";
import {
  MAX_APPEND_REQUEST_BYTES,
  MAX_JSON_DEPTH,
  MAX_QUERY_VALUES,
  MAX_REQUEST_BYTES,
  MAX_REQUEST_VALUES,
} from "../model/limits.ts";
import type { CopyStore } from "./app-options.ts";
import type { BodyAllowance } from "./body.ts";
import type { Subscribers } from "./live.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** An authenticated request with its access. */
export interface Caller {
  readonly engine: Engine;
  /** The tenant of the access; no request can name another one. */
  readonly tenant: TenantEngine;
  readonly access: Access;
  readonly request: Request;
  /** Aborted when the caller leaves or the server stops. */
  readonly signal: AbortSignal;
  readonly live: Subscribers;
  /** Makes a copy of the whole store. */
  readonly copyStore: CopyStore;
  /** The gateway's configuration, for routes that apply it. */
  readonly gateway: GatewayConfig;
  /** For routes that read their body themselves. */
  readonly allowance: BodyAllowance;
  /** Closes the connection at once, with data in flight. */
  readonly cutOff: () => void;
  /** `Idempotency-Key`, for routes that take one. */
  readonly idempotency: { readonly idempotencyKey?: string };
  /** `If-Match`: the leaf that the caller has seen, for routes that take one. */
  readonly expected: { readonly expectedLeaf?: string | null };
}

export interface RouteInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

export interface Answer {
  readonly status: 200 | 201 | 204;
  /** A short description for the reference. */
  readonly description: string;
  /** Absent: no body, or not JSON. */
  readonly schema?: z.ZodType;
  /** Types other than JSON that it may answer with. */
  readonly types?: readonly string[];
}

/** Limits of most JSON requests: a query, a name, a few fields. */
export const QUERY_LIMITS: JsonBounds = {
  bytes: MAX_REQUEST_BYTES,
  values: MAX_QUERY_VALUES,
  depth: MAX_JSON_DEPTH,
};

/** Limits of requests that carry messages or other stored content. */
export const APPEND_LIMITS: JsonBounds = {
  bytes: MAX_APPEND_REQUEST_BYTES,
  values: MAX_REQUEST_VALUES,
  depth: MAX_JSON_DEPTH,
};

export interface Route {
  readonly method: Method;
  /** As in OpenAPI: `/v1/sessions/{session_id}`. */
  readonly path: string;
  /** The name in the library and in the document. */
  readonly operation: string;
  readonly tag: string;
  readonly summary: string;
  readonly scope: AccessScope;
  /** Acts on the whole store: the access must be an operator's. */
  readonly operator: boolean;
  /**
   * The audit action, for acts without another row; recorded before the handler runs. A route that
   * does not always perform it records it itself.
   */
  readonly act: string | undefined;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** Absent: no JSON body. */
  readonly body: z.ZodType | undefined;
  /** Limits of the decompressed body. */
  readonly limits: JsonBounds;
  /** A newer request of a connection to this route cancels the older one. */
  readonly newestWins: boolean;
  /** A body of bytes that the route reads itself, such as a file. */
  readonly bytes: string | undefined;
  readonly takesKey: boolean;
  readonly takesLeaf: boolean;
  readonly answer: Answer;
  /** Gives the answer's body, or a complete `Response`. */
  readonly handle: (
    caller: Caller,
    input: RouteInput<unknown, unknown, unknown>,
  ) => Promise<unknown>;
}

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
> {
  readonly method: Method;
  readonly path: string;
  readonly operation: string;
  readonly tag: string;
  readonly summary: string;
  readonly scope: AccessScope;
  readonly operator?: true;
  readonly act?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Default: `QUERY_LIMITS`. */
  readonly limits?: JsonBounds;
  readonly newestWins?: true;
  readonly bytes?: string;
  readonly takesKey?: true;
  readonly takesLeaf?: true;
  readonly answer: Answer;
  readonly handle: (
    caller: Caller,
    input: RouteInput<
      z.output<Params>,
      z.output<Query>,
      Body extends z.ZodType ? z.output<Body> : undefined
    >,
  ) => Promise<unknown>;
}

/** No parameters: any is refused. */
const NOTHING: z.ZodObject = z.strictObject({});

/** Gives `handle` its input with the schemas' types. */
export function defineRoute<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType | undefined = undefined,
>(definition: Definition<Params, Query, Body>): Route {
  return {
    operator: false,
    act: undefined,
    takesKey: false,
    takesLeaf: false,
    bytes: undefined,
    limits: QUERY_LIMITS,
    newestWins: false,
    ...definition,
    params: definition.params ?? NOTHING,
    query: definition.query ?? NOTHING,
    body: definition.body,
    handle: definition.handle as unknown as Route["handle"],
  };
}
