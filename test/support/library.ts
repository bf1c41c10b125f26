/**
 * The library for processes that tests start by the hundred: as it was built, if the whole suite
 * runs, which has just built it; else the sources. A start then takes a fifth of the time.
 */

import type * as Library from "../../src/index.ts";

const built = new URL("../../dist/index.js", import.meta.url);
const library: typeof Library =
  process.env["BACKSCROLL_BUILT"] === undefined
    ? await import("../../src/index.ts")
    : ((await import(built.href)) as typeof Library);

export const open: typeof Library.open = library.open;
