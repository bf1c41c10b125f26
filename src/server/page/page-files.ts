/** The built files of the page, cached after the first read: they are few and small. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Encoding = "br" | "gzip";

export interface PageFile {
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

export class PageFiles {
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
  const places = isSource ? ["../../../dist/page"] : ["./page", "../page"];
  return places
    .map((place) => new URL(place, import.meta.url))
    .filter(({ protocol }) => protocol === "file:")
    .map((url) => fileURLToPath(url))
    .find((folder) => existsSync(join(folder, "index.html")));
}
