/**
 * The first script of the document to run, a few hundred bytes. For a link into a session it requests
 * the messages and the reader's code while the page's own script is loaded and compiled.
 */

import { firstPaths, grant, parse, sendEarly, serverAddress } from "./data/early-requests.ts";

/** The files of the reader and of the Markdown parser, which the build defines. */
declare const __READER__: string;
declare const __MARKDOWN__: string;

const { view, id, params } = parse(location.hash);
if (view === "session" && id !== "" && grant() !== undefined) {
  const first = (name: string) => params.get(name)?.[0] ?? "";
  const paths = firstPaths({ id, leaf: first("leaf"), at: first("m") });
  // By the time that each needs: requests of one origin are sent one after another.
  preload("modulepreload", __READER__);
  sendEarly(paths.map((path) => serverAddress() + path));
  // Fetched and not compiled: that would compete with the compilation of the scripts before it.
  preload("preload", __MARKDOWN__);
}

function preload(rel: "modulepreload" | "preload", file: string): void {
  const link = document.createElement("link");
  link.rel = rel;
  link.as = "script";
  // Modules are fetched in this mode: a preload in another one would not be used.
  link.crossOrigin = "anonymous";
  link.href = `assets/${file}`;
  document.head.append(link);
}
