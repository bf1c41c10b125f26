/**
 * The server's reference: the OpenAPI document, and the list of its operations for people. Both are
 * built at the first request, because that takes longer than the rest of a start.
 */

import type { Route } from "../route.ts";
import { openApiDocument, TAGS } from "./openapi.ts";

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
    const items = routes.filter((route) => route.tag === tag).map(operation);
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

function operation({ operation: name, method, path, summary, scope, operator }: Route): string {
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
