/**
 * The built library, as users have it. Sources would be compiled in each thread, which takes time
 * and a hundred megabytes.
 */

import type * as Library from "../src/index.ts";
import type * as Server from "../src/server/index.ts";

const built = new URL("../dist/index.js", import.meta.url);
const library = (await import(built.href)) as typeof Library;

export const open: typeof Library.open = library.open;

/** Loaded on demand: a node without a server saves its memory. */
export const keepUp: typeof Server.keepUp = async (engine, options) => {
  const server = new URL("../dist/server/index.js", import.meta.url);
  await ((await import(server.href)) as typeof Server).keepUp(engine, options);
};
