/** MCP at a real server, with callers whose tokens are plain names. */

import type { Engine } from "../../src/engine/engine.ts";
import { mcpHttpHandler } from "../../src/mcp/http.ts";
import type { Access } from "../../src/model/access.ts";
import { createApp } from "../../src/server/app.ts";
import { listen } from "../../src/server/listen.ts";

export interface McpHttp {
  readonly url: URL;
  readonly errors: unknown[];
  /** Stalled listeners that were cut off. */
  drops(): number;
  close(): Promise<void>;
}

/** `callers` by token; a request without a token is the first caller's. */
export async function startMcpHttp(
  engine: Engine,
  callers: Readonly<Record<string, Access>>,
): Promise<McpHttp> {
  const errors: unknown[] = [];
  const handler = mcpHttpHandler({
    tenantFor: (tenant) => engine.forTenant(tenant),
    version: "0.0.0",
    onError: (error) => errors.push(error),
  });
  const stopping = new AbortController();
  let drops = 0;
  const app = createApp({
    engine,
    version: "0.0.0",
    log: () => undefined,
    mcp: (request, access, cutOff) =>
      handler.fetch(request, access, () => {
        drops++;
        cutOff();
      }),
    admission: {
      anonymous: Object.values(callers)[0],
      hosts: new Set(["127.0.0.1", "localhost", "::1"]),
      origins: new Set(),
      authenticate: async (token) => callers[token],
    },
    stopping: stopping.signal,
  });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  return {
    url: new URL(`${listening.url}/mcp`),
    errors,
    drops: () => drops,
    close: async () => {
      stopping.abort();
      await handler.close();
      await listening.close(100);
    },
  };
}
