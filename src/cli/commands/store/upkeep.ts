import { toWire } from "../../../api/shape.ts";
import type { EmbedEstimate, EmbedProgress } from "../../../engine/embeddings/embed-stored.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { GatewayConfig } from "../../../gateway/config/gateway-config.ts";
import { type MaintenanceReport, maintainSessions } from "../../../gateway/maintain.ts";
import { MAINTENANCE_REPORT } from "../../../model/answers/gateway.ts";
import { SWEEP } from "../../../model/answers/store.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { counted, formatBytes, formatCount, formatTable, formatTime } from "../../print.ts";
import { ownConfig } from "../../settings/own-config.ts";
import { refuseServer, withOwnEngine, withOwnTenant, withServer, withStore } from "../../store.ts";
import { askYesNo, canAsk, Progress } from "../../terminal.ts";
import { toInput } from "../input-options.ts";

export const sweep: Command = defineCommand({
  name: "sweep",
  summary: "Delete expired sessions and records, and abort messages of dead writers.",
  details:
    "Also completes interrupted erasures of summarised messages. Sweeps run on request only: run this from a timer if you use --ttl or --retention.",
  options: { all: flag("Sweep every tenant.") },
  examples: ["sweep --all"],
  run: (context, _args, options) =>
    withStore(context, "write", async (tenant, engine) => {
      const result = options.all ? await engine.sweepAll() : await tenant.sweep();
      const { terminal } = context;
      if (context.json) return terminal.printJson(toWire(SWEEP, result));
      const deleted = counted(result.deletedSessions.length, "session");
      const aborted = counted(result.abortedMessages.length, "message");
      const erased = counted(result.erasedEntries, "entry");
      const forgot = result.erasedEntries === 0 ? "" : `, erased the content of ${erased}`;
      const { deletedRecords } = result;
      const expired = deletedRecords === 0 ? "" : `, ${counted(deletedRecords, "record")}`;
      await terminal.print(`Deleted ${deleted}${expired}, ended ${aborted}${forgot}.`);
    }),
});

export const tenantDelete: Command = defineCommand({
  name: "tenant delete",
  summary: "Delete all data of a tenant, permanently.",
  details:
    "Deletes its sessions, records, memories, facts and routes, revokes its tokens, and sets its quota to zero. An interrupted deletion continues when run again. The change feed, the tombstones and the name stay, without content.",
  arguments: [{ name: "TENANT", help: "The tenant's name." }],
  options: { yes: flag("Confirms the deletion.") },
  examples: ["tenant delete acme --yes"],
  run: async (context, args, options) => {
    refuseServer(context, "tenant delete", "run it where the store is");
    if (!options.yes) {
      throw usageError(`this would delete all of ${args.TENANT} for good; add --yes`, "--yes");
    }
    return withOwnEngine(context, async (engine) => {
      const progress = new Progress();
      const deleted = await engine
        .deleteTenant(args.TENANT, {
          onProgress: ({ sessions }) =>
            progress.show(() => `Deleted ${counted(sessions, "session")}`),
        })
        .finally(() => progress.end());
      if (context.json) return context.terminal.printJson({ tenant: args.TENANT, ...deleted });
      const sessions = counted(deleted.sessions, "session");
      const records = counted(deleted.records, "record");
      const memories = counted(deleted.memories, "memory");
      const routes = counted(deleted.routes, "route");
      const tokens = counted(deleted.tokens, "token");
      await context.terminal.print(
        `Deleted ${sessions}, ${records}, ${memories} and ${routes}, revoked ${tokens}.`,
      );
    });
  },
});

const WHY: Readonly<Record<MaintenanceReport["deletions"][number]["reason"], string>> = {
  age: "idle for too long",
  count: "there are too many",
  disk: "they take too much",
};

export const maintain: Command = defineCommand({
  name: "maintain",
  summary: "Delete sessions that are too old, too many or too large, as the configuration says.",
  details:
    "Off by default: nothing is deleted unless session.maintenance.mode is enforce. Sessions in use stay, and so do current sessions of groups and threads, and ingested sessions unless session.maintenance.ingested names their agent. A server uses its own configuration.",
  options: {
    "dry-run": flag("Only report the plan, in any mode."),
  },
  examples: ["maintain --dry-run"],
  run: async (context, _args, options) => {
    const report = await maintainStore(context, options["dry-run"] ?? false);
    const { terminal } = context;
    if (context.json) return terminal.printJson(toWire(MAINTENANCE_REPORT, report));
    for (const line of formatReport(report, terminal.columns)) await terminal.print(line);
  },
});

/** With this user's settings of a local store, with the server's own of a server. */
function maintainStore(context: Context, dryRun: boolean): Promise<MaintenanceReport> {
  if (isServer(context.address)) {
    return withServer(context, (tenant) => tenant.maintainSessions({ dryRun }));
  }
  const { config } = ownConfig();
  return withOwnTenant(context, mayDelete(config, dryRun) ? "write" : "read", (tenant) =>
    maintainSessions(tenant, config, { dryRun }),
  );
}

function mayDelete({ session }: GatewayConfig, dryRun: boolean): boolean {
  return session.maintenance.mode === "enforce" && !dryRun;
}

function formatReport(report: MaintenanceReport, columns: number): string[] {
  const { deletions, skipped, spared, contentBytes, contentBytesAfter, applied, mode } = report;
  const done = applied ? "Deleted" : "Would delete";
  const count = counted(deletions.length - (applied ? skipped.length : 0), "session");
  const rows = deletions.map(({ sessionId, lastInteractionAt, reason, key }) => [
    sessionId,
    formatTime(lastInteractionAt),
    WHY[reason],
    key ?? "",
  ]);
  const bytes = `${formatBytes(contentBytes)} of content, ${formatBytes(contentBytesAfter)} without them`;
  return [
    ...(rows.length === 0
      ? []
      : formatTable(["SESSION", "LAST INPUT", "WHY", "KEY"], rows, columns)),
    `${done} ${count} of ${report.sessions} (${bytes}).`,
    `Spared: ${spared.running} in use, ${spared.shared} of groups and threads, ${spared.ingested} ingested.`,
    ...(skipped.length === 0 ? [] : [`${counted(skipped.length, "session")} changed meanwhile.`]),
    ...(report.overBudget
      ? ["The budget is still exceeded: the rules spare all other sessions."]
      : []),
    ...(mode === "enforce" ? [] : [`session.maintenance.mode is ${mode}: nothing is deleted.`]),
  ];
}

export const embed: Command = defineCommand({
  name: "embed",
  summary: "Embed stored messages without a vector, for search by meaning.",
  details:
    "BACKSCROLL_EMBED_URL and BACKSCROLL_EMBED_MODEL name a server with /v1/embeddings and a model there, BACKSCROLL_EMBED_KEY its key, BACKSCROLL_EMBED_DIMENSIONS the size of its vectors; BACKSCROLL_EMBED_MODEL=local is a model on this machine. A process with an embedder embeds new messages itself; this command embeds the older ones. It first estimates vectors, tokens, minutes and dollars, and asks; after an interruption it resumes. --yes is needed with --json and without a terminal. ~/.backscroll/config.json may name the same as embedder.url, embedder.model and embedder.dimensions.",
  options: {
    estimate: flag("Only print the estimated cost."),
    yes: flag("Do not ask."),
    limit: option("N", "Stop after about this many vectors."),
    again: flag("Make all vectors again. Only this changes the embedder of a store."),
  },
  examples: ["embed --estimate", "embed --limit 10000 --yes", "embed --again --yes"],
  run: async (context, _args, options) => {
    refuseServer(context, "embed", "run it where the store is");
    const { again = false, estimate: isEstimate = false, yes = false } = options;
    if (!isEstimate && !yes && (context.json || !canAsk())) {
      throw usageError(
        "embed asks before it begins, which needs a terminal and no --json; add --yes to begin, or --estimate to see what it would take",
        "--yes",
      );
    }
    const input = { again, ...toInput("embedStored", { limit: options.limit }) };
    return withOwnEngine(context, async (engine) => {
      const tenants = context.tenantNamed ? [context.tenant] : await engine.listTenants();
      const shown = [];
      for (const tenant of tenants) {
        const estimate = await engine.estimateEmbedding({ tenant, again });
        if (!context.json) await context.terminal.print(`${tenant}: ${formatEstimate(estimate)}`);
        const begins =
          !isEstimate &&
          estimate.changes > 0 &&
          (yes || (await askYesNo(`Make them for ${tenant}?`)));
        const done = !begins ? undefined : await embedTenant(context, engine, { tenant, ...input });
        shown.push({ tenant, ...toWireEstimate(estimate), embedded: done?.vectors ?? 0 });
      }
      if (context.json) await context.terminal.printJson(shown);
    });
  },
});

async function embedTenant(
  context: Context,
  engine: Engine,
  input: { readonly tenant: string; readonly again: boolean; readonly limit?: number },
): Promise<EmbedProgress> {
  const progress = new Progress();
  const started = Date.now();
  try {
    const done = await engine.embedStored({
      ...input,
      onProgress: ({ vectors, changes, total }) => {
        const left = ((Date.now() - started) / changes) * (total - changes);
        const minutes = Math.ceil(left / 60_000);
        progress.show(
          () =>
            `${formatCount(vectors)} vectors, ${formatCount(changes)} of ${formatCount(total)} changes, about ${counted(minutes, "minute")} left`,
        );
      },
    });
    progress.end();
    const { tenant } = input;
    if (!context.json) {
      const left = done.total - done.changes;
      const rest = left === 0 ? "nothing is left" : `${counted(left, "change")} left`;
      await context.terminal.print(`${tenant}: ${counted(done.vectors, "vector")} made, ${rest}`);
    }
    return done;
  } finally {
    progress.end();
  }
}

function formatEstimate(estimate: EmbedEstimate): string {
  const { embedder, changes, vectors, tokens, cost, seconds } = estimate;
  if (changes === 0) return `everything has vectors of ${embedder}`;
  const price = cost === null ? "a price that is not known" : `about $${cost.toFixed(2)}`;
  return `${counted(changes, "change")} to look at, about ${counted(vectors, "vector")} of ${embedder}, ${formatCount(tokens)} tokens, about ${counted(Math.ceil(seconds / 60), "minute")}, ${price}`;
}

function toWireEstimate({
  embedder,
  changes,
  vectors,
  tokens,
  cost,
  seconds,
}: EmbedEstimate): object {
  return { embedder, changes, vectors, tokens, cost_usd: cost, seconds };
}
