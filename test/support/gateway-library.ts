/** The gateway and what it asks, for processes that tests start: as in `library.ts`. */

import type * as Gateway from "../../src/gateway/index.ts";
import type * as Library from "../../src/index.ts";

async function load<Module>(built: string, source: () => Promise<Module>): Promise<Module> {
  if (process.env["BACKSCROLL_BUILT"] === undefined) return source();
  return (await import(new URL(built, import.meta.url).href)) as Module;
}

const gateway = await load<typeof Gateway>(
  "../../dist/gateway/index.js",
  () => import("../../src/gateway/index.ts"),
);
const library = await load<typeof Library>(
  "../../dist/index.js",
  () => import("../../src/index.ts"),
);

export const autoCompaction: typeof Gateway.autoCompaction = gateway.autoCompaction;
export const piPolicy: typeof Gateway.piPolicy = gateway.piPolicy;
export const compatibleModel: typeof Library.compatibleModel = library.compatibleModel;
export const open: typeof Library.open = library.open;
