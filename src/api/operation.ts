/**
 * Operations: the plain calls of the library, each as a row of a table that says how it is sent. The
 * server's routes (`server/plain-routes.ts`), with their schemas and their part of the OpenAPI
 * document, and the client's methods (`client/plain-calls.ts`) follow from the rows.
 *
 * A call is plain if a request is its arguments and an answer its result. Streams, files, answers
 * with headers and calls with a conversion of their own are written by hand: `defineRoute` on the
 * server, a method in the client.
 */

import type { AccessScope } from "../model/access.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { PagedCall } from "../model/paged.ts";
import type { ShapeKind, ValueOf } from "../model/shape.ts";
import { toWireName } from "./wire.ts";

export interface Operation {
  /** Method and path, as in OpenAPI: `GET /v1/facts/{fact_id}`. */
  readonly http: string;
  /** Default: read for GET, else write. */
  readonly scope?: AccessScope;
  /** Acts on the whole store: the access must be an operator's. */
  readonly operator?: true;
  /** Default: the first name in the path. */
  readonly tag?: string;
  readonly summary: string;
  /** Its name in the OpenAPI document. Default: the method's. */
  readonly operation?: string;
  /** The audit action: see `Route`. */
  readonly act?: string;
  /** The input of the method: a table of fields. */
  readonly input?: keyof typeof INPUTS;
  /** What errors call the input. Default: options, which may be left out. */
  readonly what?: string;
  /**
   * The arguments of the method by their names on the wire, with `input` for the object of fields.
   * Default: the names in the path that are no fields of the input, then the input.
   */
  readonly args?: readonly string[];
  /** Where fields are sent that the path does not name. Default: in the query of GET and DELETE. */
  readonly place?: "query" | "body";
  /** The shape of the answer. Absent: there is none. */
  readonly answer?: ShapeKind;
  /** The field of the answer that is the method's result. Default: the whole answer. */
  readonly pick?: string;
  /** The description of the answer. */
  readonly about?: string;
  readonly status?: 201;
  /**
   * Takes `Idempotency-Key`, from `idempotencyKey` of the input. The client makes one up where the
   * caller gives none, unless the key is stored for good (`given`).
   */
  readonly key?: true | "given";
  /** Takes `If-Match`, from `expectedLeaf` of the input. */
  readonly leaf?: true;
  /** For the client: fields that it refuses if they are code of its process. */
  readonly code?: readonly string[];
  /**
   * What a server answers with `session_not_found` where the method has no result; the client gives
   * undefined for it.
   */
  readonly none?: string;
  /** The answer is a page that can be iterated. */
  readonly paging?: PagedCall;
  /** For the client: without a timeout. */
  readonly slow?: true;
  /** For the client: safe to repeat. Reads always are. */
  readonly repeatable?: true;
}

export type Operations = Readonly<Record<string, Operation>>;

/** Fields of inputs that are sent as headers. */
export const HEADER_FIELDS: readonly string[] = ["idempotencyKey", "expectedLeaf"];

/** An operation as it is sent. */
export interface ReadOperation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly scope: AccessScope;
  readonly tag: string;
  /** The names in the path. */
  readonly named: readonly string[];
  readonly args: readonly string[];
  readonly place: "query" | "body";
}

/** `fixed` are names in the path that are no arguments: the id of a handle's session. */
export function readOperation(operation: Operation, fixed: readonly string[] = []): ReadOperation {
  const { http, input, args, place } = operation;
  const isRead = http.startsWith("GET");
  const [method = "", path = ""] = http.split(" ");
  const named = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as string);
  const fields = fieldsOf(input).map(toWireName);
  const alone = named.filter((name) => !fixed.includes(name) && !fields.includes(name));
  return {
    method: method as ReadOperation["method"],
    path,
    scope: operation.scope ?? (isRead ? "read" : "write"),
    tag: operation.tag ?? (path.split("/")[2] as string),
    named,
    args: args ?? (input === undefined ? alone : [...alone, "input"]),
    place: place ?? (isRead || method === "DELETE" ? "query" : "body"),
  };
}

/** The fields of an input that a query or a body may hold. */
export function fieldsOf(input: Operation["input"]): readonly string[] {
  const names = input === undefined ? [] : Object.keys(INPUTS[input]);
  return names.filter((name) => !HEADER_FIELDS.includes(name));
}

/** The names of `Table` whose answer is not the result of the method of `Api`. */
export type Misfits<Api, Table> = {
  [Name in keyof Table & keyof Api]: Api[Name] extends (...args: never[]) => Promise<infer Result>
    ? [Result] extends [ResultOf<Table[Name]>]
      ? never
      : Name
    : Name;
}[keyof Table & keyof Api];

type ResultOf<Row> = Row extends { readonly answer: infer Answer }
  ?
      | (Row extends { readonly pick: infer Field }
          ? ValueOf<Answer>[Field & keyof ValueOf<Answer>]
          : ValueOf<Answer>)
      | (Row extends { readonly none: string } ? undefined : never)
  : ReturnType<() => void>;
