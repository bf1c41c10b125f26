/**
 * The server's reference: the OpenAPI document and its page.
 *
 * Both are built at the first request, because that takes longer than the rest of a start, and
 * cached, because requests for them need no token.
 */

import type { JsonObject } from "../../model/json.ts";
import { openApiDocument } from "../openapi.ts";
import type { Route } from "../route.ts";
import { REFERENCE_SCRIPT, REFERENCE_STYLE } from "./reference-assets.ts";
import { referencePage } from "./reference-page.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

export class Reference {
  readonly #routes: readonly Route[];
  readonly #version: string;
  #built: JsonObject | undefined;
  #json: string | undefined;
  #html: string | undefined;

  constructor(routes: readonly Route[], version: string) {
    this.#routes = routes;
    this.#version = version;
  }

  document(): Response {
    this.#json ??= JSON.stringify(this.#build());
    return new Response(this.#json, { headers: { "content-type": "application/json" } });
  }

  page(): Response {
    this.#html ??= referencePage(this.#routes, this.#build(), this.#version);
    return answer(this.#html, "text/html");
  }

  style(): Response {
    return answer(REFERENCE_STYLE, "text/css");
  }

  script(): Response {
    return answer(REFERENCE_SCRIPT, "text/javascript");
  }

  #build(): JsonObject {
    this.#built ??= openApiDocument(this.#routes, this.#version);
    return this.#built;
  }
}

function answer(text: string, type: string): Response {
  return new Response(text, {
    headers: { "content-type": `${type}; charset=utf-8`, "content-security-policy": POLICY },
  });
}
