/** Makes the methods of the calls that `api/operations.ts` describes. */

import { type Misfits, type Operation, type Operations, readOperation } from "../api/operation.ts";
import { fromWire } from "../api/shape.ts";
import { fromWireName, toWireName } from "../api/wire.ts";
import { BackscrollError } from "../model/errors.ts";
import { PAGINGS, type PagedCall, readPaged } from "../model/paged.ts";
import type { Call, Connection } from "./connection.ts";
import { encodeId, keyHeader, leafHeader, refuseCode, sent, toBody, toQuery } from "./request.ts";

/** Maps not-found errors to undefined, as the library's `find…` do. */
async function unlessMissing<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}

/** The calls of one object at a server. */
export class RemoteCalls {
  /** For the parts of the client, not for hosts. */
  protected readonly connection: Connection;
  readonly #fixed: Readonly<Record<string, string>>;

  /** `fixed` are fields of every request: the id of a session. */
  constructor(connection: Connection, fixed: Readonly<Record<string, string>> = {}) {
    this.connection = connection;
    this.#fixed = fixed;
  }

  /** For the methods of tables, not for hosts. */
  protected async send<Result>(
    operation: Operation,
    given: readonly unknown[] = [],
  ): Promise<Result> {
    const { input, what, answer, pick, key, leaf, code = [], none, slow, repeatable } = operation;
    const fixed = Object.keys(this.#fixed).map(toWireName);
    const { method, path, scope, named, args, place } = readOperation(operation, fixed);
    const fields: Record<string, unknown> = { ...this.#fixed };
    const headers: Record<string, string> = {};
    let signal: AbortSignal | undefined;
    for (const [i, name] of args.entries()) {
      if (name !== "input" || input === undefined) fields[fromWireName(name)] = given[i];
      else {
        const options = given[i] === undefined && what === undefined ? {} : (given[i] as object);
        const { idempotencyKey, expectedLeaf, ...others } = sent(input, options, what);
        refuseCode(options, code);
        Object.assign(fields, others);
        if (leaf) Object.assign(headers, leafHeader(expectedLeaf as string | null | undefined));
        if (key === true || (key && idempotencyKey !== undefined)) {
          Object.assign(headers, keyHeader(idempotencyKey as string | undefined));
        }
        ({ signal } = options as { readonly signal?: AbortSignal });
      }
    }
    const ids = named.map((name) => encodeId(fields[fromWireName(name)] as string));
    for (const name of named) delete fields[fromWireName(name)];
    const hasBody = place === "body" && Object.keys(fields).length > 0;
    const call: Call = {
      method,
      path: path.replace(/\{\w+\}/g, () => ids.shift() as string),
      ...(place === "query" ? { query: toQuery(fields) } : {}),
      ...(hasBody ? { body: toBody(fields) } : {}),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...(signal === undefined ? {} : { signal }),
      ...(slow === undefined ? {} : { slow }),
      ...(scope === "read" || repeatable ? { repeatable: true } : {}),
    };
    const received = await (none === undefined
      ? this.connection.call(call)
      : unlessMissing(() => this.connection.call(call)));
    if (received === undefined && none !== undefined) return undefined as Result;
    if (answer === undefined) return undefined as Result;
    const value = fromWire(answer as "unknown", received) as Readonly<Record<string, unknown>>;
    return (pick === undefined ? value : value[pick]) as Result;
  }

  /** As `send`, for a page that can be iterated. */
  protected sendPaged(
    operation: Operation,
    paging: PagedCall,
    given: readonly unknown[],
  ): Promise<unknown> {
    const at = readOperation(operation, Object.keys(this.#fixed).map(toWireName)).args.indexOf(
      "input",
    );
    return readPaged(PAGINGS[paging], (given[at] ?? {}) as object, (each) =>
      this.send<object>(operation, given.toSpliced(at, 1, each)),
    );
  }
}

/** A class with the methods of `table`, as `Api` has them. */
export type CallsOf<Api, Table> = new (
  ...parameters: ConstructorParameters<typeof RemoteCalls>
) => RemoteCalls & Pick<Api, keyof Api & keyof Table>;

/** The answers of `table` must be the results of the methods of `Api`. */
export function callsOf<Api, Table extends Operations>(
  table: Misfits<Api, Table> extends never ? Table : { readonly differs: Misfits<Api, Table> },
): CallsOf<Api, Table> {
  class Calls extends RemoteCalls {}
  for (const [name, operation] of Object.entries(table as Operations)) {
    const { paging } = operation;
    const value = function (this: Calls, ...given: unknown[]): Promise<unknown> {
      return paging ? this.sendPaged(operation, paging, given) : this.send(operation, given);
    };
    Object.defineProperty(Calls.prototype, name, { value, writable: true, configurable: true });
  }
  return Calls as unknown as CallsOf<Api, Table>;
}
