/**
 * The server's reference: the OpenAPI 3.1 document, generated from the routes' schemas, and the
 * list of its operations for people. Both are built at the first request, because that takes longer
 * than the rest of a start.
 */

import { z } from "zod";
import type { ErrorCode } from "../model/errors.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";
import type { Route } from "./route.ts";
import { problem } from "./schemas/store.ts";

const POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

export class Reference {
  readonly #routes: readonly Route[];
  readonly #version: string;
  #json: string | undefined;
  #html: string | undefined;

  constructor(routes: readonly Route[], version: string) {
    this.#routes = routes;
    this.#version = version;
  }

  document(): Response {
    this.#json ??= JSON.stringify(openApiDocument(this.#routes, this.#version));
    return new Response(this.#json, { headers: { "content-type": "application/json" } });
  }

  page(): Response {
    this.#html ??= referencePage(this.#routes, this.#version);
    return new Response(this.#html, {
      headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
    });
  }
}

function referencePage(routes: readonly Route[], version: string): string {
  const sections = Object.entries(TAGS).map(([tag, about]) => {
    const items = routes.filter((route) => route.tag === tag).map(listItem);
    return `<h2 id="tag-${tag}">${tag}</h2>\n<p>${prose(about)}</p>\n<dl>\n${items.join("\n")}\n</dl>`;
  });
  const title = `Backscroll ${prose(version)}: REST`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
<p>Parameters, bodies, answers, limits and errors are in the OpenAPI 3.1 document,
<a href="/v1/openapi.json">/v1/openapi.json</a>, which any OpenAPI viewer shows. Send a token as
<code>Authorization: Bearer …</code>; on this machine alone none is needed.</p>
${sections.join("\n")}
</html>
`;
}

function listItem({ operation: name, method, path, summary, scope, operator }: Route): string {
  const needs = `${scope}${operator ? " of an operator" : ""}`;
  return `<dt id="${name}"><b>${method.toUpperCase()}</b> <code>${prose(path)}</code></dt>
<dd>${prose(summary)} <small>${name}; scope ${needs}</small></dd>`;
}

/** Descriptions are Markdown in the OpenAPI document; here only code is marked. */
function prose(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/`([^`]+)`/g, "<code>$1</code>");
}

type Schema = Record<string, unknown>;

const TAGS: Readonly<Record<string, string>> = {
  sessions: "Conversations: create, find, change, fork, delete.",
  messages: "Messages, appended and read by page.",
  streams: "Messages that are written piece by piece.",
  entries: "The nodes of a session's tree.",
  branches: "Paths other than the active one.",
  search: "Full-text search, by words and by meaning.",
  context: "The context of a model, and its compaction.",
  facts: "Statements taken from conversations.",
  memories: "Small named notes of an agent.",
  rules: "What people said once and meant to stand, found and decided.",
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

function openApiDocument(routes: readonly Route[], version: string): JsonObject {
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

const BY_PARAM: Readonly<Record<string, ErrorCode>> = {
  session_id: "session_not_found",
  entry_id: "entry_not_found",
  stream_id: "entry_not_found",
  fact_id: "fact_not_found",
  token_id: "token_not_found",
  share_id: "token_not_found",
  name: "memory_not_found",
  record_key: "record_not_found",
  key: "session_key_not_found",
};

const BY_OPERATION: Readonly<Record<string, readonly ErrorCode[]>> = {
  createSession: ["session_exists"],
  write: ["stream_lost"],
  commit: ["stream_lost"],
  searchSessions: ["search_superseded"],
  searchSessionsByBody: ["search_superseded"],
  buildContext: ["budget_too_small"],
  compact: [
    "nothing_to_compact",
    "compaction_conflict",
    "compaction_cancelled",
    "model_unavailable",
    "model_failed",
    "summary_rejected",
  ],
  summarize: ["model_unavailable", "model_failed", "summary_rejected"],
  extractFacts: ["facts_disabled", "model_unavailable", "model_failed"],
  generateTitle: ["model_unavailable", "model_failed"],
  importTranscript: ["unknown_format"],
  listChanges: ["cursor_expired"],
  listSessionChanges: ["cursor_expired"],
  putRoute: ["route_conflict", "session_not_found"],
  patchRoute: ["route_conflict"],
  putRecord: ["record_conflict"],
  putRecordBytes: ["record_conflict"],
  deleteRecord: ["record_conflict"],
  writeRecords: ["record_conflict", "record_not_found"],
};

function errorsOf(route: Route): readonly ErrorCode[] {
  const query = Object.keys(route.query.shape);
  const readsBody = route.body !== undefined || route.bytes !== undefined;
  return [
    ...new Set<ErrorCode>([
      "invalid_input",
      ...(["cursor", "after"].some((name) => query.includes(name))
        ? (["invalid_cursor"] as const)
        : []),
      "unauthorized",
      "forbidden",
      ...(route.scope === "write" ? (["quota_exceeded", "store_read_only"] as const) : []),
      ...Object.keys(route.params.shape).flatMap((name) => BY_PARAM[name] ?? []),
      ...(route.scope === "read" && "session_id" in route.params.shape
        ? (["session_ambiguous"] as const)
        : []),
      ...(BY_OPERATION[route.operation] ?? []),
      ...(route.takesLeaf ? (["stale_leaf"] as const) : []),
      ...(route.takesKey ? (["idempotency_conflict"] as const) : []),
      ...(readsBody ? (["request_timeout", "too_large"] as const) : []),
      "rate_limited",
      "store_busy",
    ]),
  ];
}
