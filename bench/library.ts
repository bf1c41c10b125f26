/**
 * The library as users have it: built. Sources would be compiled anew in each thread, which takes
 * time and a hundred megabytes that no user pays for.
 */

import type * as Library from "../src/index.ts";

const built = new URL("../dist/index.js", import.meta.url);
const library = (await import(built.href)) as typeof Library;

export const open: typeof Library.open = library.open;
