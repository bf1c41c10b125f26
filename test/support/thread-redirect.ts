/**
 * Stores in tests start their threads from `dist`: a resolve hook replaces `thread-file.ts`, which
 * locates the thread's module, by `built-thread-file.ts`.
 */

import { registerHooks } from "node:module";

const SOURCE = "./thread-file.ts";
const BUILT: string = new URL("./built-thread-file.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === SOURCE ? BUILT : specifier, context),
});
