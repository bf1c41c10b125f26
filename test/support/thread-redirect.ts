/**
 * Stores that tests open start their threads from `dist`. The storage threads' own modules are found
 * by `thread-file.ts`: a resolve hook answers with `built-thread-file.ts` in its place.
 */

import { registerHooks } from "node:module";

const SOURCE = "./thread-file.ts";
const BUILT: string = new URL("./built-thread-file.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === SOURCE ? BUILT : specifier, context),
});
