/** The web page: its document at `/`, its scripts and styles below `/assets/`. */

import { toWireAccess } from "../../api/access.ts";
import type { Access } from "../../model/access.ts";
import { routeNotFound } from "../problem.ts";
import { type Encoding, type PageFile, PageFiles } from "./page-files.ts";

/**
 * The policy loads only the page's own files, and Trusted Types admit HTML from DOMPurify alone.
 * `backscroll-worker` allows one script, the highlighter.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify backscroll-worker",
].join("; ");

const PLACES = {
  page: "/ (in a browser)",
  rest: "/v1",
  docs: "/docs",
  openapi: "/v1/openapi.json",
  mcp: "/mcp",
};

/** Names contain a content hash, so files are immutable. */
const FOR_GOOD = "public, max-age=31536000, immutable";

export class Page {
  readonly #files: PageFiles;

  constructor(files: PageFiles = new PageFiles()) {
    this.#files = files;
  }

  /**
   * `access`: that of the caller without a token, if there is one. Programs that do not accept HTML
   * get the server's addresses as JSON. With the status 401 the document asks for a token.
   */
  async document(
    request: Request,
    access: Access | undefined,
    status: 200 | 401 = 200,
  ): Promise<Response> {
    if (!/\btext\/html\b/.test(request.headers.get("accept") ?? "")) {
      return Response.json(PLACES, { status });
    }
    const file = await this.#files.find("index.html");
    if (file === undefined) {
      return new Response("The page is not built. In a checkout, run: npm run build\n", {
        status: 503,
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
    }
    const hint = access === undefined ? "" : accessHint(access);
    return answer(request, withHint(file, hint), status, {
      "cache-control": "no-cache",
      "content-security-policy": POLICY,
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      vary: "accept, accept-encoding",
    });
  }

  async asset(request: Request): Promise<Response> {
    const file = await this.#files.find(new URL(request.url).pathname.slice(1));
    if (file === undefined) throw routeNotFound();
    return answer(request, file, 200, { "cache-control": FOR_GOOD, vary: "accept-encoding" });
  }
}

/**
 * The answer of `/v1/access` without a token, embedded so that the page's first requests need not
 * wait. The document is then not compressed, because such a server answers its own machine only.
 */
function accessHint(anonymous: Access): string {
  const content = encodeURIComponent(JSON.stringify(toWireAccess(anonymous)));
  return `<meta name="backscroll-access" content="${content}">\n`;
}

function withHint(file: PageFile, hint: string): PageFile {
  if (hint === "") return file;
  const html = new TextDecoder().decode(file.plain).replace("<script", () => `${hint}<script`);
  return { type: file.type, plain: new TextEncoder().encode(html), packed: undefined };
}

function answer(
  request: Request,
  { type, plain, packed }: PageFile,
  status: number,
  headers: Record<string, string>,
): Response {
  const encoding = packed && encodingFor(request.headers.get("accept-encoding") ?? "");
  return new Response(encoding === undefined ? plain : packed?.[encoding], {
    status,
    headers: {
      ...headers,
      "content-type": type,
      // Also for `identity`, so that no proxy compresses it again.
      "content-encoding": encoding ?? "identity",
    },
  });
}

function encodingFor(accepts: string): Encoding | undefined {
  const isTaken = (name: string) =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepts);
  if (isTaken("br")) return "br";
  return isTaken("gzip") ? "gzip" : undefined;
}
