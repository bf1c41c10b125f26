/** The official client, in both eras of the protocol, with helpers. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { environmentOf, ROOT } from "./cli.ts";

export const ERAS = ["2025-11-25", "2026-07-28"] as const;
export type Era = (typeof ERAS)[number];

export async function connectHttp(
  url: URL,
  era: Era,
  token?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const headers = { ...more, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
  return connect(era, new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
}

export interface Spawned {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  /** Standard error of the process. */
  readonly stderr: () => string;
}

/** Starts `backscroll mcp` as an agent does. */
export async function connectStdio(
  era: Era,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<Spawned> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [`${ROOT}/bin/backscroll.js`, "mcp", ...args],
    env: environmentOf(options.env),
    stderr: "pipe",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let said = "";
  transport.stderr?.on("data", (text) => {
    said += String(text);
  });
  return { client: await connect(era, transport), transport, stderr: () => said };
}

async function connect(
  era: Era,
  transport: StreamableHTTPClientTransport | StdioClientTransport,
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    era === "2026-07-28" ? { versionNegotiation: { mode: { pin: era } } } : {},
  );
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly data: any;
  /** The whole answer as JSON, in bytes. */
  readonly bytes: number;
}

export async function call(client: Client, name: string, args: object = {}): Promise<Called> {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
  const [first] = result.content as { type: string; text?: string }[];
  return {
    isError: result.isError === true,
    text: first?.text ?? "",
    data: result.structuredContent,
    bytes: Buffer.byteLength(JSON.stringify(result)),
  };
}

/** A program's call: `detail: "full"`, as data. */
export function callFull(client: Client, name: string, args: object = {}): Promise<Called> {
  return call(client, name, { ...args, detail: "full" });
}

/** The error in a tool's answer. */
export async function failure(
  client: Client,
  name: string,
  args: object = {},
): Promise<{ readonly code: string; readonly message: string; readonly details: object }> {
  const { isError, text } = await call(client, name, args);
  if (!isError) throw new Error(`${name} has not failed: ${text}`);
  return (JSON.parse(text) as { error: { code: string; message: string; details: object } }).error;
}
