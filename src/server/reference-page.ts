/** The routes on one readable page, without scripts and without anything from elsewhere. */

import { z } from "zod";
import { limitsOf } from "./openapi.ts";
import type { Route } from "./route.ts";

/** The page is made once, each answer anew. */
export function referencePage(routes: readonly Route[], version: string): () => Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Backscroll ${escapeHtml(version)}: REST</title>
<style>${STYLE}</style>
<h1>Backscroll ${escapeHtml(version)}</h1>
<p>The same as a document for programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>. Send a token as
<code>Authorization: Bearer …</code>; on this machine alone none is needed.</p>
${[...new Set(routes.map(({ tag }) => tag))].map((tag) => section(tag, routes)).join("\n")}
</html>
`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  };
  return () => new Response(html, { headers });
}

function section(tag: string, routes: readonly Route[]): string {
  const items = routes.filter((route) => route.tag === tag).map(item);
  return `<h2>${escapeHtml(tag)}</h2>\n${items.join("\n")}`;
}

function item(route: Route): string {
  const takes = [
    ...rows("path", route.params),
    ...rows("query", route.query),
    ...(route.takesKey ? [row("Idempotency-Key", "header", "", false)] : []),
    ...(route.takesLeaf ? [row("If-Match", "header", "", false)] : []),
    ...(route.body instanceof z.ZodObject ? rows("body", route.body) : []),
    ...(route.bytes === undefined ? [] : [row("", "body", route.bytes, true)]),
  ];
  return `<details><summary><b>${route.method.toUpperCase()}</b> <code>${escapeHtml(route.path)}</code>
<span>${escapeHtml(route.summary)}</span></summary>
<p>Scope <code>${route.scope}</code>${route.operator ? " of an operator" : ""}. Answers
${route.answer.status}: ${escapeHtml(route.answer.description)}</p>
${route.body === undefined ? "" : `<p>Body: ${escapeHtml(limitsOf(route))}</p>`}
${takes.length === 0 ? "" : `<table>${takes.join("")}</table>`}</details>`;
}

function rows(place: string, object: z.ZodObject): string[] {
  return Object.entries(object.shape).map(([name, value]) => {
    const member = value as z.ZodType;
    return row(name, place, member.meta()?.description ?? "", !member.isOptional());
  });
}

function row(name: string, place: string, text: string, required: boolean): string {
  const cells = [
    `<code>${escapeHtml(name)}</code>`,
    place,
    required ? "required" : "",
    escapeHtml(text),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
summary { cursor: pointer; padding: 0.3rem 0 } summary span { opacity: 0.7 }
summary b { display: inline-block; min-width: 4.5rem } td { padding: 0.1rem 1rem 0.1rem 0 }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } a { color: #8bf } }
`;
