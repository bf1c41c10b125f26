import { userInfo } from "node:os";
import { hidePasswords } from "../../../api/error.ts";
import { toWireSessionStatus } from "../../../api/gateway.ts";
import { toWire, type WireOf } from "../../../api/shape.ts";
import { fromWireLoss, toWireStatus, type WireStatus } from "../../../api/status.ts";
import type { EngineApi, TenantApi } from "../../../engine/interfaces.ts";
import { type SessionStatus, sessionStatus } from "../../../gateway/session-status.ts";
import { type INDEX_SUMMARY, TENANT_STATUS } from "../../../model/answers/store.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { describeLoss } from "../../../model/store-loss.ts";
import type { VectorStatus } from "../../../store/index/index-status.ts";
import { type Command, defineCommand, type ExitCode, flag, SESSION } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatBytes, formatCount, formatTime } from "../../print.ts";
import { commandLine, quote } from "../../program.ts";
import { ownConfig } from "../../settings/own-config.ts";
import { withOwnTenant, withServer, withStore } from "../../store.ts";

export const status: Command = defineCommand({
  name: "status",
  summary: "Show the store's address and contents, or a session's status.",
  details:
    "Of a session: the key that leads to it, how full its context is, its compactions, and when and why it is reset next; by the settings of this user, or of the server.",
  arguments: [{ ...SESSION, optional: true }],
  options: {
    create: flag("Create or migrate the store if needed."),
  },
  examples: ["status --create", "status 5f0c2a91"],
  run: (context, args, options) => {
    const { SESSION: id } = args;
    if (id !== undefined) return printSessionStatus(context, id);
    return withStore(context, options.create ? "create" : "read", async (tenant, engine) => {
      const all = await readStatus(context, tenant, engine);
      const tenants = context.tenantNamed
        ? all.tenants.filter(({ tenant }) => tenant === context.tenant)
        : all.tenants;
      const shown = { ...all, tenants };
      const { terminal } = context;
      if (context.json) await terminal.printJson(shown);
      else for (const line of formatStatus(context, shown)) await terminal.print(line);
    });
  },
});

/** Fields that only an operator may see are null for others. */
type ShownStatus = Pick<WireStatus, "address" | "tenants"> & {
  readonly [Name in keyof WireStatus]: WireStatus[Name] | null;
};

/** Callers of a server that are not operators get their own tenant's status. */
async function readStatus(
  context: Context,
  tenant: TenantApi,
  engine: EngineApi,
): Promise<ShownStatus> {
  try {
    return toWireStatus(await engine.status());
  } catch (error) {
    if (!isServer(context.address) || !BackscrollError.is(error, "forbidden")) throw error;
    const own = await tenant.tenantStatus();
    return {
      backend: null,
      address: hidePasswords(context.address),
      schema_version: null,
      epoch: null,
      database_bytes: null,
      wal_bytes: null,
      losses: null,
      followers: null,
      tenants: own === undefined ? [] : [toWire(TENANT_STATUS, own)],
    };
  }
}

function formatStatus(context: Context, status: ShownStatus): string[] {
  const { backend, address, schema_version, database_bytes, wal_bytes, losses, tenants } = status;
  const product = backend === "sqlite" ? "SQLite" : "PostgreSQL";
  const log = backend === "sqlite" ? `, write-ahead log ${formatBytes(wal_bytes ?? 0)}` : "";
  const field = (name: string, value: string) =>
    `${context.terminal.dim(name.padEnd(8))}  ${value}`;
  return [
    field("Store", address),
    ...(backend === null ? [] : [field("Backend", `${product}, schema version ${schema_version}`)]),
    ...(database_bytes === null ? [] : [field("Size", formatBytes(database_bytes) + log)]),
    ...(losses ?? []).map((loss) => field("Lost", describeLoss(fromWireLoss(loss)))),
    ...(tenants.length === 0 ? [field("Holds", "nothing yet")] : []),
    ...tenants.flatMap((tenant) => [
      field("Holds", formatTenant(tenant, tenants.length > 1)),
      field("Index", formatIndex(tenant.index)),
      ...(tenant.index.vectors === null
        ? []
        : [field("Vectors", formatVectors(tenant.index.vectors))]),
    ]),
    "",
    "Try next:",
    ...nextCommands(tenants).map((words) => `  ${commandLine(context, words)}`),
  ];
}

function formatTenant(status: WireOf<typeof TENANT_STATUS>, named: boolean): string {
  const parts = [
    counted(status.sessions, "session"),
    counted(status.messages, "message"),
    ...(status.pending === 0 ? [] : [`${status.pending} being written`]),
    counted(status.memories, "memory"),
    counted(status.facts, "fact"),
    `${formatBytes(status.content_bytes)} of content`,
  ];
  return `${named ? `${status.tenant}: ` : ""}${parts.join(", ")}`;
}

/** Search also finds unindexed messages. */
export function formatIndex({
  lag,
  segments,
  documents,
  bytes,
}: WireOf<typeof INDEX_SUMMARY>): string {
  const parts = [
    counted(segments, "segment"),
    counted(documents, "document"),
    formatBytes(bytes),
    lag === 0 ? "up to date" : `${counted(lag, "change")} to be added`,
  ];
  return parts.join(", ");
}

/** Messages without a vector are found by their words. */
function formatVectors({ vectors, embedder, bytes, lag, gaps }: VectorStatus): string {
  const left = gaps.reduce((total, { from, to }) => total + to - from, 0);
  const parts = [
    `${counted(vectors, "vector")} of ${embedder}`,
    formatBytes(bytes),
    lag === 0 ? "up to date" : `${counted(lag, "change")} to be looked at`,
    ...(left === 0 ? [] : [`${counted(left, "older change")} left to backscroll embed`]),
  ];
  return parts.join(", ");
}

/** Two commands that work with any store. */
function nextCommands(tenants: readonly WireOf<typeof TENANT_STATUS>[]): string[] {
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

/** With this user's settings of a local store, with the server's own of a server. */
function readSessionStatus(context: Context, id: string): Promise<SessionStatus> {
  if (isServer(context.address)) return withServer(context, (tenant) => tenant.sessionStatus(id));
  return withOwnTenant(context, "read", (tenant) => sessionStatus(tenant, id, ownConfig().config));
}

/** Prints a session's status for people and programs. */
async function printSessionStatus(context: Context, id: string): Promise<ExitCode> {
  const status = await readSessionStatus(context, id);
  const { terminal } = context;
  if (context.json) return terminal.printJson(toWireSessionStatus(status));
  for (const [name, value] of rowsOf(status)) {
    await terminal.print(`${terminal.dim(name.padEnd(11))}  ${value}`);
  }
  return EXIT.ok;
}

function rowsOf(status: SessionStatus): [string, string][] {
  const { contextTokens, window, estimated, model, nextReset, memoryFlushAt } = status;
  const percent = Math.round((contextTokens / window.tokens) * 100);
  const how = [`${percent} %`, ...(estimated ? ["estimated"] : []), model ?? "no model known"];
  return [
    ["Session", status.sessionId],
    ["Key", status.key === null ? "none" : `${status.key}${status.current ? "" : " (before)"}`],
    ["Agent", status.agent],
    ["Began", formatTime(status.startedAt)],
    ["Last active", formatTime(status.lastInteractionAt)],
    ["Messages", formatCount(status.messageCount)],
    [
      "Context",
      `${formatCount(contextTokens)} of ${formatCount(window.tokens)} tokens (${how.join(", ")})`,
    ],
    ["Compacted", status.compactionCount === 0 ? "never" : `${status.compactionCount} times`],
    ["Last flush", memoryFlushAt === null ? "never" : formatTime(memoryFlushAt)],
    ["Next reset", nextReset === null ? "–" : `${formatTime(nextReset.at)} (${nextReset.reason})`],
    ["Rule", status.resetRule],
  ];
}
