/** An agent as `setup` sees it: how to detect it, and where it lists its MCP servers. */

import type { Environment } from "../../ingest/source.ts";
import type { JsonObject } from "../../model/json.ts";

/** How a client starts an MCP server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Agent {
  /** Its name on the command line, and that of its transcripts' source if there is a reader. */
  readonly name: string;
  readonly title: string;
  /** Programs on the PATH, any of which shows that it is installed. */
  readonly executables: readonly string[];
  /** Folders, any of which shows that it was used here. */
  readonly folders: (environment: Environment) => readonly string[];
  /** Its file: the first of these that exists, else the first. */
  readonly files: (environment: Environment) => readonly string[];
  readonly format: "json" | "toml";
  /** The path of its servers in the file, by name. */
  readonly path: readonly string[];
  readonly toEntry: (server: ServerCommand) => JsonObject;
  /** Undefined if it starts no process, or has an unknown form. */
  readonly fromEntry: (entry: Readonly<Record<string, unknown>>) => ServerCommand | undefined;
  /** The client locks the file as npm's proper-lockfile does while it rewrites it. */
  readonly locks?: true;
}

/** The name of our entry in every file. */
export const ENTRY_NAME = "backscroll";
