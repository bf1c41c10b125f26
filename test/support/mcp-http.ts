/**
 * The MCP handler behind a real socket: tokens are names here, and Host and Origin are checked as the
 * server in front of the handler does.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import type { Engine } from "../../src/engine/engine.ts";
import { mcpHttpHandler } from "../../src/mcp/http.ts";
import type { Access } from "../../src/model/access.ts";

export interface McpHttp {
  readonly url: URL;
  readonly errors: unknown[];
  close(): Promise<void>;
}

/** `callers` by token; a request without one is that of the first. */
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
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing, (request) => {
      const rejected =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins());
      if (rejected !== undefined) return Promise.resolve(rejected);
      const token = request.headers.get("authorization")?.replace(/^Bearer /, "");
      const access = token === undefined ? Object.values(callers)[0] : callers[token];
      if (access === undefined) return Promise.resolve(new Response(null, { status: 401 }));
      return handler.fetch(request, access);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    errors,
    close: async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const { method = "GET", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const request = new Request(`http://${headers.host}${incoming.url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" } : {}),
  } as RequestInit);
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else {
    // A client that leaves cancels the stream.
    Readable.fromWeb(response.body as never)
      .on("error", () => outgoing.destroy())
      .pipe(outgoing);
  }
}
