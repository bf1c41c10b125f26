/**
 * Errors over MCP: a code, a sentence, details, never a stack. Those of call parameters are written
 * for a model that corrects the call: the received value, the allowed ones, and a working example.
 */

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { toWireError, type WireError } from "../api/error.ts";
import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import { nearest } from "../model/suggest.ts";
import type { McpHost } from "./host.ts";

const NOT_FOUND: readonly ErrorCode[] = ["session_not_found", "entry_not_found"];

/** A failed tool's answer. The text is JSON, for models and programs alike. */
export function toToolFailure(error: unknown, host: McpHost): CallToolResult {
  const text = JSON.stringify(describeFailure(error, host));
  return { content: [{ type: "text", text }], isError: true };
}

/** For requests other than tool calls. */
export function toProtocolFailure(error: unknown, host: McpHost, uri?: string): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const { error: failure } = describeFailure(error, host);
  if (uri !== undefined && BackscrollError.is(error) && NOT_FOUND.includes(error.code)) {
    return new ResourceNotFoundError(uri, failure.message);
  }
  const code =
    failure.code === "internal_error"
      ? ProtocolErrorCode.InternalError
      : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, failure.message, failure);
}

/** For a URI that names no resource of ours. */
export function noSuchResource(uri: string): ProtocolError {
  const message = `there is no resource ${JSON.stringify(uri.slice(0, 120))}; there are session://ID and session://ID/messages?offset=0&limit=20, with the ID of a session as list_sessions gives it`;
  return new ResourceNotFoundError(uri, message);
}

/** A bug's message may hold anything: the host gets it, the caller gets a general sentence. */
function describeFailure(error: unknown, host: McpHost): WireError {
  if (BackscrollError.is(error)) return toWireError(error);
  host.onError?.(error);
  const message = "internal error of Backscroll; its operator can see the cause";
  return { error: { code: "internal_error", message, details: {} } };
}

export interface CalledThing {
  /** The tool or method: `search_sessions`. */
  readonly name: string;
  readonly input: z.ZodObject;
  /** Valid arguments. */
  readonly example: object;
  /** The tool that shows sessions' ids. */
  readonly lists?: string;
}

/** A model corrects no more than these at once. */
const MAX_ISSUES = 5;
/** Characters of a wrong value in a message. */
const SHOWN_LENGTH = 60;

/** `too_large` if only limits are exceeded, else `invalid_input`. `field` is the first issue's. */
export function toInputError(
  { issues }: z.ZodError,
  given: unknown,
  called: CalledThing,
): BackscrollError {
  const told = issues.slice(0, MAX_ISSUES).map((issue) => describe(issue, given, called));
  const message = withExample(told.map(({ text }) => text).join(". "), called);
  const [first] = issues;
  const field = told[0]?.field ?? "arguments";
  if (first?.code !== "too_big") {
    return new BackscrollError("invalid_input", message, { details: { field } });
  }
  return new BackscrollError("too_large", message, {
    details: { field, limit: Number(first.maximum) },
  });
}

function withExample(message: string, { name, example }: CalledThing): string {
  return `${message}. Example: ${name} ${JSON.stringify(example)}`;
}

interface Told {
  readonly field: string;
  readonly text: string;
}

function describe(issue: z.core.$ZodIssue, given: unknown, called: CalledThing): Told {
  if (issue.code === "unrecognized_keys") return unknownArgument(issue.keys, called);
  const field = issue.path.length === 0 ? "arguments" : issue.path.map(String).join(".");
  const value = valueAt(given, issue.path);
  const must = `it must be ${allowedAt(called.input, issue.path)}`;
  const name = field.slice(0, 200);
  if (value === undefined) return { field: name, text: `${name} is missing; ${must}` };
  return { field: name, text: `${name} is ${shown(value)}; ${must}` };
}

function unknownArgument(keys: readonly string[], { name, input }: CalledThing): Told {
  const known = Object.keys(input.shape);
  const [key = ""] = keys;
  const listed = known.map((each) => (isRequired(input, each) ? `${each} (required)` : each));
  const meant = nearest(snakeCase(key), known);
  const guess = meant === undefined ? "" : ` (did you mean ${meant}?)`;
  const takes = known.length === 0 ? "no arguments" : listed.join(", ");
  return {
    field: key.slice(0, 200),
    text: `${name} has no argument ${JSON.stringify(key.slice(0, 80))}${guess}; it takes ${takes}`,
  };
}

function isRequired(input: z.ZodObject, name: string): boolean {
  return !(input.shape[name] as z.ZodType).safeParse(undefined).success;
}

/** Other interfaces spell the same names in camelCase. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll("-", "_");
}

/** The kind of a value, and the value if it is short. */
function shown(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value !== "string") return String(value);
  if (value.length > SHOWN_LENGTH) return `a string of ${value.length} characters`;
  return value === "" ? "an empty string" : `the string ${JSON.stringify(value)}`;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** The part of JSON Schema that our inputs use. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

function allowedAt(input: z.ZodObject, path: readonly PropertyKey[]): string {
  let schema: Schema | undefined = z.toJSONSchema(input, { io: "input" }) as Schema;
  for (const key of path) {
    schema = typeof key === "number" ? schema?.items : propertyOf(schema, String(key));
  }
  return schema === undefined ? "left out" : allowed(schema);
}

function propertyOf(schema: Schema | undefined, name: string): Schema | undefined {
  const more = schema?.additionalProperties;
  return schema?.properties?.[name] ?? (typeof more === "object" ? more : undefined);
}

function allowed(schema: Schema): string {
  if (schema.enum !== undefined) {
    return `one of ${schema.enum.map((each) => JSON.stringify(each)).join(", ")}`;
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowed).join(" or ");
  switch (schema.type) {
    case "string":
      return `a string${sizes(schema.minLength, schema.maxLength, "characters")}`;
    case "integer":
      return `an integer${range(schema)}`;
    case "number":
      return `a number${range(schema)}`;
    case "boolean":
      return "true or false";
    case "array":
      return `an array${schema.maxItems === undefined ? "" : ` of at most ${schema.maxItems}`}`;
    case "object":
      return objectOf(schema);
    default:
      return "any JSON";
  }
}

/** `{ messages }`, or an object with any keys. */
function objectOf({ properties = {} }: Schema): string {
  const names = Object.keys(properties);
  return names.length === 0 ? "an object" : `{ ${names.join(", ")} }`;
}

function sizes(least = 0, most: number | undefined, of: string): string {
  if (most === undefined) return least > 0 ? ` of at least ${least} ${of}` : "";
  return ` of ${least} to ${most} ${of}`;
}

function range({ minimum, maximum }: Schema): string {
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` of ${least} or more`;
  return most === undefined ? "" : ` of at most ${most}`;
}

/**
 * Runs `work` and rewrites its errors: arguments and operations by their MCP names, and an example
 * after wrong arguments.
 */
export async function inCallersWords<Value>(
  called: CalledThing,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw BackscrollError.is(error) ? translate(error, called) : error;
  }
}

function translate(error: BackscrollError, called: CalledThing): BackscrollError {
  let { message } = error;
  const { field, ...details } = error.details;
  let named = field;
  for (const name of Object.keys(called.input.shape)) {
    const own = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (own === name) continue;
    message = message.replace(new RegExp(`\\b${own}\\b`, "g"), name);
    if (named === own) named = name;
  }
  const { lists = "list_sessions" } = called;
  message = message.replace("list sessions to see their ids", () => `${lists} shows their ids`);
  if (error.code === "invalid_input") message = withExample(message, called);
  return new BackscrollError(error.code, message, {
    details: named === undefined ? details : { ...details, field: named },
    cause: error.cause,
  });
}
