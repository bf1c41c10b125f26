import { userInfo } from "node:os";
import { hidePasswords } from "../../../api/address.ts";
import { toWireStatus } from "../../../api/status.ts";
import type { StoreStatus, TenantStatus } from "../../../store/records.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatBytes } from "../../print.ts";
import { commandLine, quote } from "../../program.ts";
import { withStore } from "../../store.ts";

export const status: Command = defineCommand({
  name: "status",
  summary: "Show where the store is and what it holds.",
  options: {
    create: { type: "boolean", help: "Create the store, or bring it up to date, if need be." },
  },
  examples: ["status --create"],
  run: (context, _args, options) =>
    withStore(context, options.create ? "create" : "read", async (_tenant, engine) => {
      const all = await engine.status();
      const tenants = context.tenantNamed
        ? all.tenants.filter(({ tenant }) => tenant === context.tenant)
        : all.tenants;
      const shown: StoreStatus = { ...all, tenants };
      const { terminal } = context;
      if (context.json) await terminal.printJson(toWireStatus(shown));
      else for (const line of formatStatus(context, shown)) await terminal.print(line);
      return EXIT.ok;
    }),
});

function formatStatus(context: Context, status: StoreStatus): string[] {
  const { backend, address, schemaVersion, databaseBytes, walBytes, tenants } = status;
  const size = `${formatBytes(databaseBytes)}, write-ahead log ${formatBytes(walBytes)}`;
  const product = backend === "sqlite" ? "SQLite" : "PostgreSQL";
  const field = (name: string, value: string) =>
    `${context.terminal.dim(name.padEnd(8))}  ${value}`;
  return [
    field("Store", hidePasswords(address)),
    field("Backend", `${product}, schema version ${schemaVersion}`),
    field("Size", size),
    ...(tenants.length === 0 ? [field("Holds", "nothing yet")] : []),
    ...tenants.map((tenant) => field("Holds", formatTenant(tenant, tenants.length > 1))),
    "",
    "Try next:",
    ...nextCommands(tenants).map((words) => `  ${commandLine(context, words)}`),
  ];
}

function formatTenant(status: TenantStatus, named: boolean): string {
  const parts = [
    counted(status.sessions, "session"),
    counted(status.messages, "message"),
    ...(status.pending === 0 ? [] : [`${status.pending} being written`]),
    counted(status.memories, "memory"),
    counted(status.facts, "fact"),
    `${formatBytes(status.contentBytes)} of content`,
  ];
  return `${named ? `${status.tenant}: ` : ""}${parts.join(", ")}`;
}

/** Two commands that work now, whatever the store holds. */
function nextCommands(tenants: readonly TenantStatus[]): string[] {
  const empty = tenants.every(({ sessions }) => sessions === 0);
  return empty
    ? [`new --agent coder --by ${quote(userName())} --title "First session"`, "list"]
    : ["list", "doctor --verify"];
}

/** A container may run under a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "me";
  }
}
