/** The OpenAPI 3.1 document, generated from the routes' schemas. */

import { z } from "zod";
import type { JsonObject, JsonValue } from "../../model/json.ts";
import type { Route } from "../route.ts";
import { problem } from "../schemas/store.ts";
import { errorsOf } from "./operation-errors.ts";

type Schema = Record<string, unknown>;

export const TAGS: Readonly<Record<string, string>> = {
  sessions: "Conversations: create, find, change, fork, delete.",
  messages: "Messages, appended and read by page.",
  streams: "Messages that are written piece by piece.",
  entries: "The nodes of a session's tree.",
  branches: "Paths other than the active one.",
  search: "Full-text search, by words and by meaning.",
  context: "The context of a model, and its compaction.",
  facts: "Statements taken from conversations.",
  memories: "Small named notes of an agent.",
  records: "Values that programs keep under a namespace and a key.",
  changes: "The change feed, by page and live.",
  gateway: "Session keys, their routes and resets.",
  transfer: "Other agents' files, in and out.",
  shares: "Public read-only links to single sessions.",
  store: "Counts and sizes of the tenant.",
  admin: "Maintenance and limits.",
};

const DESCRIPTION =
  "The token determines the tenant; resources of other tenants are not found. Errors are problem+json (RFC 9457) with a `code`. Request bodies may be compressed with gzip; responses are, if `Accept-Encoding` allows it.";

export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const components: Record<string, Schema> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, components) };
  }
  const problems = { description: "The error.", content: problemContent(components) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Backscroll",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      responses: { Problem: problems },
      schemas: components,
    },
  } as unknown as JsonObject;
}

function operation(route: Route, components: Record<string, Schema>): Schema {
  const { answer, body, bytes } = route;
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    description: `Needs the scope \`${route.scope}\`${route.operator ? " of an operator" : ""}. Error codes: ${errorsOf(route).join(", ")}.`,
    parameters: [
      ...parameters(route.params, "path", components),
      ...parameters(route.query, "query", components),
      ...(route.takesKey
        ? [
            header(
              "Idempotency-Key",
              "Idempotency: the same request under the same key is carried out once.",
            ),
          ]
        : []),
      ...(route.takesLeaf
        ? [header("If-Match", 'The leaf that was seen, in quotes; `""` if there was none.')]
        : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            description: limitsOf(route),
            content: { "application/json": { schema: toSchema(body, "input", components) } },
          },
        }),
    ...(bytes === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            description: bytes,
            content: { "application/octet-stream": { schema: {} } },
          },
        }),
    responses: {
      [String(answer.status)]: {
        description: answer.description,
        ...answerContent(route, components),
      },
      "4XX": { $ref: "#/components/responses/Problem" },
      "5XX": { $ref: "#/components/responses/Problem" },
    },
  };
}

/** The limits of a route's body, in a sentence. */
function limitsOf({ limits: { bytes, values, depth } }: Route): string {
  const mebibytes = bytes / 1024 / 1024;
  return `At most ${mebibytes} MiB unpacked, ${values} values and names, ${depth} levels deep.`;
}

function answerContent({ answer }: Route, components: Record<string, Schema>): Schema {
  const content: Record<string, unknown> = {};
  if (answer.schema !== undefined) {
    content["application/json"] = { schema: toSchema(answer.schema, "output", components) };
  }
  for (const type of answer.types ?? []) {
    content[type.split(";", 1)[0] as string] = { schema: {} };
  }
  return Object.keys(content).length === 0 ? {} : { content };
}

function problemContent(components: Record<string, Schema>): Schema {
  return { "application/problem+json": { schema: toSchema(problem, "output", components) } };
}

function parameters(
  object: z.ZodObject,
  place: "path" | "query",
  components: Record<string, Schema>,
): Schema[] {
  return Object.entries(object.shape).map(([name, value]) => {
    const member = value as z.ZodType;
    const { description, ...schema } = toSchema(member, "input", components);
    return {
      name,
      in: place,
      required: !member.isOptional(),
      ...(description === undefined ? {} : { description }),
      schema,
    };
  });
}

function header(name: string, description: string): Schema {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

/** Named schemas become components, referred to by name. */
function toSchema(
  schema: z.ZodType,
  io: "input" | "output",
  components: Record<string, Schema>,
): Schema {
  const {
    $schema: _,
    $defs = {},
    ...root
  } = z.toJSONSchema(schema, { io }) as Schema & {
    readonly $defs?: Record<string, Schema>;
  };
  for (const [name, definition] of Object.entries($defs)) {
    components[name] = withReferences(definition) as Schema;
  }
  const own = withReferences(root) as Schema;
  const name = schema.meta()?.id;
  if (name === undefined || "$ref" in own) return own;
  components[name] = own;
  return { $ref: `#/components/schemas/${name}` };
}

/** Refers to components, and drops the names that zod writes into them. */
function withReferences(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(withReferences);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  const { $ref, ...rest } = value as Schema;
  if (typeof $ref === "string") return { $ref: $ref.replace("#/$defs/", "#/components/schemas/") };
  return Object.fromEntries(
    Object.entries(rest)
      .filter(([name, member]) => !(name === "id" && typeof member === "string"))
      .map(([name, member]) => [name, withReferences(member)]),
  );
}
