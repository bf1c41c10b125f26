/**
 * The first script of the document to run, a few hundred bytes. For a link into a session it requests
 * the messages and the reader's code while the page's own script is loaded and compiled.
 */

import { grant, serverAddress } from "./data/credentials.ts";
import { sendEarly } from "./data/early-answers.ts";
import { parse } from "./data/hash.ts";
import { firstPaths } from "./read/first-requests.ts";

/** The files of the reader's code, which the build defines. */
declare const __READER__: readonly string[];

const { view, id, params } = parse(location.hash);
if (view === "session" && id !== "" && grant() !== undefined) {
  const first = (name: string) => params.get(name)?.[0] ?? "";
  const paths = firstPaths({ id, leaf: first("leaf"), at: first("m") });
  sendEarly(paths.map((path) => serverAddress() + path));
  for (const file of __READER__) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `assets/${file}`;
    document.head.append(link);
  }
}
