import { userInfo } from "node:os";
import { toWireStatus, type WireStatus, type WireTenantStatus } from "../../../api/status.ts";
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
      const all = toWireStatus(await engine.status());
      const tenants = context.tenantNamed
        ? all.tenants.filter(({ tenant }) => tenant === context.tenant)
        : all.tenants;
      const shown = { ...all, tenants };
      const { terminal } = context;
      if (context.json) await terminal.printJson(shown);
      else for (const line of formatStatus(context, shown)) await terminal.print(line);
      return EXIT.ok;
    }),
});

function formatStatus(context: Context, status: WireStatus): string[] {
  const { backend, address, schema_version, database_bytes, wal_bytes, tenants } = status;
  const product = backend === "sqlite" ? "SQLite" : "PostgreSQL";
  const log = backend === "sqlite" ? `, write-ahead log ${formatBytes(wal_bytes)}` : "";
  const field = (name: string, value: string) =>
    `${context.terminal.dim(name.padEnd(8))}  ${value}`;
  return [
    field("Store", address),
    field("Backend", `${product}, schema version ${schema_version}`),
    field("Size", formatBytes(database_bytes) + log),
    ...(tenants.length === 0 ? [field("Holds", "nothing yet")] : []),
    ...tenants.map((tenant) => field("Holds", formatTenant(tenant, tenants.length > 1))),
    "",
    "Try next:",
    ...nextCommands(tenants).map((words) => `  ${commandLine(context, words)}`),
  ];
}

function formatTenant(status: WireTenantStatus, named: boolean): string {
  const parts = [
    counted(status.sessions, "session"),
    counted(status.messages, "message"),
    ...(status.pending === 0 ? [] : [`${status.pending} being written`]),
    counted(status.memories, "memory"),
    counted(status.facts, "fact"),
    `${formatBytes(status.content_bytes)} of content`,
    ...(status.index.segments === 0 ? [] : [formatIndex(status.index)]),
  ];
  return `${named ? `${status.tenant}: ` : ""}${parts.join(", ")}`;
}

function formatIndex({ lag, segments, bytes }: WireTenantStatus["index"]): string {
  const behind = lag === 0 ? "" : `, ${counted(lag, "change")} behind`;
  return `an index of ${formatBytes(bytes)} in ${counted(segments, "segment")}${behind}`;
}

/** Two commands that work now, whatever the store holds. */
function nextCommands(tenants: readonly WireTenantStatus[]): string[] {
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
