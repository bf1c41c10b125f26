/**
 * The web page: its document at `/`, its scripts and styles below `/assets/`. The built files are
 * cached after the first read: they are few and small.
 */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toWireAccess } from "../api/access.ts";
import type { Access } from "../model/access.ts";
import { routeNotFound } from "./problem.ts";

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

type Encoding = "br" | "gzip";

interface PageFile {
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  /** The compressed file; undefined if it is sent as is. */
  readonly packed: Readonly<Record<Encoding, Uint8Array<ArrayBuffer>>> | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** Names made by the build; they stay inside the folder. */
const NAME = /^(index\.html|assets\/[\w-]+\.(js|css))$/;

class PageFiles {
  readonly #folder: string | undefined;
  readonly #files = new Map<string, Promise<PageFile | undefined>>();

  constructor(folder: string | undefined = builtFolder()) {
    this.#folder = folder;
  }

  /** Undefined if missing, as in an unbuilt checkout. */
  async find(name: string): Promise<PageFile | undefined> {
    const folder = this.#folder;
    if (folder === undefined || !NAME.test(name)) return undefined;
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    const reading = read(join(folder, name));
    const file = await reading;
    // Misses are not cached: requests may use any name.
    if (file !== undefined) this.#files.set(name, reading);
    return file;
  }
}

async function read(path: string): Promise<PageFile | undefined> {
  if (!existsSync(path)) return undefined;
  const [plain, gzip, br] = await Promise.all([
    readFile(path),
    readFile(`${path}.gz`),
    readFile(`${path}.br`),
  ]);
  const type = TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  return { type, plain, packed: { br, gzip } };
}

/** Beside this code in the package; in `dist` in a checkout. */
function builtFolder(): string | undefined {
  const isSource = import.meta.url.endsWith(".ts");
  const places = isSource ? ["../../dist/page"] : ["./page", "../page"];
  return places
    .map((place) => new URL(place, import.meta.url))
    .filter(({ protocol }) => protocol === "file:")
    .map((url) => fileURLToPath(url))
    .find((folder) => existsSync(join(folder, "index.html")));
}
