/** The routes on one readable page: types, limits, bodies, examples and errors of each. */

import type { JsonObject } from "../../model/json.ts";
import { limitsOf } from "../openapi.ts";
import { HTTP_STATUS } from "../problem.ts";
import type { Route } from "../route.ts";
import { exampleOf, examplePath } from "./example.ts";
import { errorsOf } from "./operation-errors.ts";
import {
  type Components,
  type FieldRow,
  fieldRows,
  type Schema,
  typeWords,
} from "./schema-words.ts";

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export function referencePage(
  routes: readonly Route[],
  document: JsonObject,
  version: string,
): string {
  const paths = document["paths"] as unknown as Paths;
  const components = (document["components"] as { readonly schemas: unknown })
    .schemas as Components;
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const items = routes
      .filter((route) => route.tag === tag)
      .map((route) => item(route, paths[route.path]?.[route.method], components));
    return `<section><h2 id="tag-${tag}">${tag}</h2>\n${items.join("\n")}</section>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Backscroll ${escapeHtml(version)}: REST</title>
<link rel="stylesheet" href="/docs/reference.css">
<script type="module" src="/docs/reference.js"></script>
<main>
<h1>Backscroll ${escapeHtml(version)}: REST</h1>
<p>For programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>. Send a token as
<code>Authorization: Bearer …</code>; on this machine alone none is needed. Errors are
<code>application/problem+json</code> with a <code>code</code>, a sentence and details. A field that a
route does not know is refused.</p>
<div class="find"><input type="search" id="find" aria-label="Find operations" placeholder="Find: a path, a field, an error code"><span id="found" role="status"></span></div>
<nav aria-label="Sections">${tags.map((tag) => `<a href="#tag-${tag}">${tag}</a>`).join(" ")}</nav>
${sections.join("\n")}
</main>
</html>
`;
}

function item(route: Route, operation: Operation | undefined, components: Components): string {
  const parameters = (operation?.parameters ?? []).map((parameter) => ({
    name: parameter.name,
    type: `${typeWords(parameter.schema, components)} (${parameter.in})`,
    required: parameter.required,
    description: parameter.description ?? "",
  }));
  const body = operation?.requestBody?.content["application/json"]?.schema;
  const answered = operation?.responses[String(route.answer.status)]?.content ?? {};
  const schema = answered["application/json"]?.schema;
  const others = Object.keys(answered).filter((type) => type !== "application/json");
  return `<details id="${route.operation}"><summary><b>${route.method.toUpperCase()}</b> <code>${escapeHtml(route.path)}</code>
<span>${prose(route.summary)}</span></summary>
<p>Scope <code>${route.scope}</code>${route.operator ? " of an operator" : ""}. In the library: <code>${route.operation}</code>.</p>
${table("Parameters", parameters)}
${body === undefined ? "" : `<p>Body: JSON. ${escapeHtml(limitsOf(route))}</p>${table("Body", fieldRows(body, components))}`}
${route.bytes === undefined ? "" : `<p>Body: ${escapeHtml(route.bytes)}</p>`}
<h3>Example</h3><pre>${escapeHtml(curl(route, body, components))}</pre>
<h3>Answer</h3><p>${route.answer.status}: ${prose(route.answer.description)}${others.length === 0 ? "" : ` As ${others.map((type) => `<code>${escapeHtml(type)}</code>`).join(", ")}.`}</p>
${schema === undefined ? "" : table("", fieldRows(schema, components))}
<h3>Errors</h3><p>${errorsOf(route)
    .map((code) => `<code>${code}</code> ${HTTP_STATUS[code]}`)
    .join(", ")}</p></details>`;
}

function curl(route: Route, body: Schema | undefined, components: Components): string {
  const query = route.query.shape["query"] === undefined ? "" : "?query=cron";
  const required = Object.entries(route.query.shape)
    .filter(([, member]) => !(member as { isOptional(): boolean }).isOptional())
    .map(([name]) => `${name}=…`);
  const search = required.length === 0 ? query : `?${required.join("&")}`;
  const words = [
    `curl${route.method === "get" ? "" : ` -X ${route.method.toUpperCase()}`} 'http://127.0.0.1:7423${examplePath(route.path)}${search}'`,
    ...(body === undefined
      ? []
      : [
          "-H 'content-type: application/json'",
          `-d '${JSON.stringify(exampleOf(body, components)).replaceAll("'", "'\\''")}'`,
        ]),
    ...(route.bytes === undefined ? [] : ["--data-binary @FILE"]),
  ];
  return words.join(" \\\n  ");
}

function table(caption: string, rows: readonly FieldRow[]): string {
  if (rows.length === 0) return "";
  const title = caption === "" ? "" : `<h3>${caption}</h3>`;
  const lines = rows.map(
    ({ name, type, required, description }) =>
      `<tr><td><code${required ? ' class="required"' : ""}>${escapeHtml(name)}</code></td><td>${escapeHtml(type)}${required ? ", required" : ""}</td><td>${prose(description)}</td></tr>`,
  );
  return `${title}<table><thead><tr><th>Name</th><th>Type</th><th>Description</th></tr></thead><tbody>${lines.join("")}</tbody></table>`;
}

/** Descriptions are Markdown in the OpenAPI document; here only code is marked. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
