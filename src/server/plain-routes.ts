/** Makes the routes of the calls that `api/operations.ts` describes. */

import { z } from "zod";
import { fieldsOf, type Operation, type Operations, readOperation } from "../api/operation.ts";
import { OTHER_TENANT_CALLS, SESSION_CALLS, TENANT_CALLS } from "../api/operations.ts";
import {
  ENGINE_CALLS,
  FUNCTION_CALLS,
  RECORD_CALLS,
  ROUTE_CALLS,
  SHARE_CALLS,
} from "../api/part-operations.ts";
import { toWire } from "../api/shape.ts";
import { fromWireFields, fromWireName, toWireName } from "../api/wire.ts";
import { BackscrollError } from "../model/errors.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { type Caller, defineRoute, type Method, type Route } from "./route.ts";
import { key, sessionKey } from "./schemas/common.ts";
import { inputOf, type Schemas } from "./schemas/input.ts";
import { schemaOf } from "./schemas/shape.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a route has beside the row of its table, or in place of it. */
interface Special extends Partial<Operation>, Partial<Pick<Route, "limits" | "newestWins">> {
  /** The given schemas are all fields, in their order. */
  readonly exact?: true;
  /** Checks the fields of a request, by their names on the wire; gives others in their place. */
  readonly prepare?: (caller: Caller, fields: never) => unknown;
  /** Gives the whole answer, in place of the method; called with the fields by our names. */
  readonly run?: (caller: Caller, fields: never) => Promise<unknown>;
}

/** Makes a route of a name in the table. `own` are schemas of fields in place of those of their kind. */
export type MakeRoute<Table> = (
  name: keyof Table & string,
  own?: Schemas,
  special?: Special,
) => Route;

/** `targetOf` gives the object whose methods `table` describes. */
export function routesOf<Table extends Operations>(
  table: Table,
  targetOf: (caller: Caller, fields: Fields) => object,
  fixed: readonly string[] = [],
): MakeRoute<Table> {
  return (name, own = {}, { prepare, run, exact, limits, newestWins, ...changes } = {}) => {
    const operation: Operation = { ...(table[name] as Operation), ...changes };
    const { input, answer, pick, none, about = "No content.", status = 200 } = operation;
    const { named, args, place, ...parts } = readOperation(operation, fixed);
    const isWhole = pick === undefined || run !== undefined;
    const fields = z.strictObject(exact ? own : schemasOf(operation, own, named, place));
    const call = async (caller: Caller, given: Fields) => {
      const target = targetOf(caller, given) as Record<string, (...args: unknown[]) => unknown>;
      return target[name]?.(...argumentsOf(given, args, input, caller));
    };
    return defineRoute({
      ...parts,
      method: parts.method.toLowerCase() as Method,
      operation: operation.operation ?? name,
      summary: operation.summary,
      ...(operation.operator ? { operator: true } : {}),
      ...(operation.act === undefined ? {} : { act: operation.act }),
      params: z.strictObject(Object.fromEntries(named.map((each) => [each, pathSchema(each)]))),
      ...(place === "query" ? { query: fields } : hasFields(fields) ? { body: fields } : {}),
      ...(operation.key ? { takesKey: true } : {}),
      ...(operation.leaf ? { takesLeaf: true } : {}),
      ...(limits === undefined ? {} : { limits }),
      ...(newestWins ? { newestWins } : {}),
      answer:
        answer === undefined
          ? { status: 204, description: about }
          : { status, description: about, schema: schemaOf(answer) },
      handle: async (caller, request) => {
        const sent = { ...request.params, ...request.query, ...Object(request.body) } as Fields;
        const prepared = ((await prepare?.(caller, sent as never)) ?? sent) as Fields;
        const given: Fields = fromWireFields(prepared);
        const result = await (run === undefined
          ? call(caller, given)
          : run(caller, given as never));
        if (answer === undefined) return undefined;
        if (result === undefined && none !== undefined) {
          throw new BackscrollError("session_not_found", none);
        }
        // The types of a row of a table are known where it is written.
        return toWire(answer as "unknown", isWhole ? result : { [pick]: result });
      },
    });
  };
}

function pathSchema(name: string): z.ZodType {
  return name === "key" ? sessionKey : key;
}

/** The fields beside the path: first those that are arguments of their own. */
function schemasOf(
  { input }: Operation,
  own: Schemas,
  named: readonly string[],
  place: "query" | "body",
): Record<string, z.ZodType> {
  const known = fieldsOf(input).map(toWireName);
  const alone = Object.entries(own).filter(([name]) => !known.includes(name));
  const fields = input === undefined ? {} : inputOf(input, place, own);
  const schemas = Object.entries<z.ZodType>({ ...Object.fromEntries(alone), ...fields });
  const sent = [...alone.map(([name]) => name), ...known].filter((name) => !named.includes(name));
  return Object.fromEntries(schemas.filter(([name]) => sent.includes(name)));
}

function hasFields({ shape }: z.ZodObject): boolean {
  return Object.keys(shape).length > 0;
}

function argumentsOf(
  given: Fields,
  args: readonly string[],
  input: Operation["input"],
  { signal, expected, idempotency }: Caller,
): unknown[] {
  const kinds: Fields = input === undefined ? {} : INPUTS[input];
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => name in kinds));
  const sent = { ...rest, ...expected, ...idempotency };
  const options = "signal" in kinds ? { ...sent, signal } : sent;
  return args.map((name) => (name === "input" ? options : given[fromWireName(name)]));
}

export const tenantRoute: MakeRoute<typeof TENANT_CALLS> = routesOf(
  TENANT_CALLS,
  ({ tenant }) => tenant,
);
export const otherTenantRoute: MakeRoute<typeof OTHER_TENANT_CALLS> = routesOf(
  OTHER_TENANT_CALLS,
  ({ tenant }) => tenant,
);
export const sessionRoute: MakeRoute<typeof SESSION_CALLS> = routesOf(
  SESSION_CALLS,
  ({ tenant }, { sessionId }) => tenant.session(sessionId as string),
  ["session_id"],
);
/** Each takes its `run`. */
export const functionRoute: MakeRoute<typeof FUNCTION_CALLS> = routesOf(
  FUNCTION_CALLS,
  ({ tenant }) => tenant,
);
export const keyRoute: MakeRoute<typeof ROUTE_CALLS> = routesOf(
  ROUTE_CALLS,
  ({ tenant }) => tenant.routes,
);
export const engineRoute: MakeRoute<typeof ENGINE_CALLS> = routesOf(
  ENGINE_CALLS,
  ({ engine }) => engine,
);
export const recordRoute: MakeRoute<typeof RECORD_CALLS> = routesOf(
  RECORD_CALLS,
  ({ tenant }) => tenant.records,
);
export const shareRoute: MakeRoute<typeof SHARE_CALLS> = routesOf(
  SHARE_CALLS,
  ({ tenant }) => tenant.shares,
);
