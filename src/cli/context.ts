/**
 * The context of every command (store, tenant, output), and the description of an option, for the
 * parser, the help and the reference.
 */

import { homedir } from "node:os";
import { join } from "node:path";
import { readVariable, type VariableName } from "../model/variables.ts";
import type { Terminal } from "./terminal.ts";

export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** One letter, as in `-B`. */
  readonly short?: string;
  /** The placeholder of a string option's value in the usage. */
  readonly value?: string;
  readonly help: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** Options of every command, before or after its name. */
export const GLOBAL_OPTIONS: OptionSpecs = {
  db: {
    type: "string",
    value: "ADDRESS",
    help: "The store: a path, :memory:, postgres://… or a server's http://… (or BACKSCROLL_DB; else ~/.backscroll/backscroll.db).",
  },
  token: {
    type: "string",
    value: "TOKEN",
    help: "The access token of a server (better in BACKSCROLL_TOKEN, hidden from other users of the machine).",
  },
  tenant: {
    type: "string",
    value: "NAME",
    help: 'The tenant (or BACKSCROLL_TENANT; else "default", and of a server the token\'s).',
  },
  json: { type: "boolean", help: "Print one JSON document; errors as JSON on standard error." },
  help: { type: "boolean", short: "h", help: "Explain the command." },
  version: { type: "boolean", short: "v", help: "Print the version." },
};

export interface Context {
  readonly address: string;
  /** For a server. Never printed. */
  readonly token: string | undefined;
  readonly tenant: string;
  /** The options as typed, for suggested commands. */
  readonly given: { readonly db?: string; readonly tenant?: string };
  /** Whether the caller or the environment named a tenant. */
  readonly tenantNamed: boolean;
  readonly json: boolean;
  readonly terminal: Terminal;
}

/** Whether the store is behind a server. */
export function isServer(address: string): boolean {
  return /^https?:\/\//i.test(address);
}

export function createContext(
  options: {
    readonly db?: string;
    readonly token?: string;
    readonly tenant?: string;
    readonly json?: boolean;
  },
  terminal: Terminal,
): Context {
  const { db, tenant, json = false } = options;
  const environment = (name: VariableName) => readVariable(name, process.env);
  const namedTenant = tenant ?? environment("BACKSCROLL_TENANT");
  return {
    address: db ?? environment("BACKSCROLL_DB") ?? join(homedir(), ".backscroll", "backscroll.db"),
    token: options.token ?? environment("BACKSCROLL_TOKEN"),
    tenant: namedTenant ?? "default",
    given: {
      ...(db === undefined ? {} : { db }),
      ...(tenant === undefined ? {} : { tenant }),
    },
    tenantNamed: namedTenant !== undefined,
    json,
    terminal,
  };
}
