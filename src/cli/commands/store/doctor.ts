import { statSync } from "node:fs";
import { hidePasswords } from "../../../api/error.ts";
import { toWire } from "../../../api/shape.ts";
import { fromWireLoss, toWireStatus, type WireStatus } from "../../../api/status.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { EngineApi } from "../../../engine/interfaces.ts";
import type { VerifyReport } from "../../../engine/verify/verify.ts";
import { LOSS, VERIFY_REPORT } from "../../../model/answers/store.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { describeLoss, type StoreLoss } from "../../../model/store-loss.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { maintainTenants } from "../../maintain-tenants.ts";
import { counted, formatCount } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { readRules, ruleLines } from "../../read-rules.ts";
import { refuseServer, withOwnEngine, withStore } from "../../store.ts";
import { Progress } from "../../terminal.ts";
import { formatIndex } from "./status.ts";

export const doctor: Command = defineCommand({
  name: "doctor",
  summary: "Check that the store is sound. Exits with 1 if it is not.",
  details:
    "Asks the database to check itself and looks for unfinished messages, and says which conversations rules keep out of the store, how long sessions are kept, and what the policy of the machine forbids. For a PostgreSQL server it reports wrong settings (durability, connections, standbys, vacuum, backups) with remedies, which alone do not cause exit code 1. With --verify it also recomputes every hash of every entry and of the change feed, and detects tampering and truncation. A loss detected when the store was opened, such as commits behind a damaged part of its write-ahead log, is reported by every command until --accept-loss; the damaged log is kept beside the store. doctor only reads, except with --accept-loss, --rebuild and --purge. The last two work on every tenant (of a server: on the token's), or on the named one, beside readers and writers.",
  options: {
    verify: flag("Recompute every hash."),
    head: option(
      "HASH",
      "A feed head that you noted earlier: the feed must still pass through it. Implies --verify.",
    ),
    rebuild: flag("Build the index again from the messages."),
    purge: flag("Purge deleted text from the index, and empty the write-ahead logs."),
    "accept-loss": flag("Acknowledge the reported losses: no command reports them again."),
  },
  examples: ["doctor --verify", "doctor --rebuild", "doctor --purge", "doctor --accept-loss"],
  run: async (context, _args, options) => {
    const { head, rebuild, purge, "accept-loss": acceptLoss } = options;
    if (head !== undefined && !/^[0-9a-f]{64}$/i.test(head)) {
      throw usageError("--head must be a hash of 64 hexadecimal digits", "--head");
    }
    const remote = isServer(context.address);
    if (acceptLoss) refuseServer(context, "--accept-loss", "run it where the store is");
    const accepted = acceptLoss ? await withOwnEngine(context, acceptLosses) : [];
    const access = rebuild || purge ? "write" : "read";
    const code = await withStore(context, access, async (tenant, engine) => {
      const verified =
        options.verify || head !== undefined ? await verify(engine, head) : undefined;
      const found = verified?.damage ?? (await engine.checkIntegrity());
      const { status, damage } = await readStatus(context, engine, found);
      // Only an operator sees the server's database.
      const advice = isOwn(engine) ? await engine.checkSettings() : [];
      const pending = status.tenants.reduce((sum, tenant) => sum + tenant.pending, 0);
      const { losses } = status;
      const isSound = damage.length === 0 && (verified?.ok ?? true);
      const ok = isSound && losses.length === 0;
      const tenants = context.tenantNamed || remote ? [tenant.tenant] : tenantsOf(status);
      // A damaged database is not written to.
      const mend = (wanted: boolean | undefined, task: "rebuild" | "purge", doing: string) =>
        wanted && isSound ? maintainTenants(engine, tenants, task, doing) : undefined;
      const rebuilt = await mend(rebuild, "rebuild", "Rebuilding the index");
      const purged = await mend(purge, "purge", "Purging the index");
      const rules = await readRules(tenant);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          ok,
          backend: status.backend,
          address: status.address,
          schema_version: status.schema_version,
          damage,
          advice,
          losses,
          accepted: toWire([LOSS], accepted),
          pending,
          verification: verified === undefined ? null : toWire(VERIFY_REPORT, verified),
          rebuilt: rebuilt ?? null,
          purged: purged ?? null,
          rules,
        });
        return ok ? EXIT.ok : EXIT.nothing;
      }
      await terminal.print(
        `Store     ${status.address} (schema version ${status.schema_version ?? "unknown"})`,
      );
      await terminal.print(`Database  ${damage.length === 0 ? "sound" : "damaged"}`);
      for (const line of damage) await terminal.print(`  ${line}`);
      for (const { tenant: name, index } of status.tenants) {
        // Searches find them, but take longer.
        if (index.lag < UNBUILT || index.segments > 0) continue;
        const rebuild = commandLine(context, "doctor --rebuild");
        const lag = counted(index.lag, "change");
        await terminal.print(`Index     ${name}: missing, ${lag} to be added (${rebuild})`);
      }
      for (const line of advice) await terminal.print(`Advice    ${line}`);
      for (const loss of losses) {
        await terminal.print(`Lost      ${describeLoss(fromWireLoss(loss))}`);
      }
      for (const loss of accepted) await terminal.print(`Accepted  ${describeLoss(loss)}`);
      if (pending > 0) {
        const sweep = commandLine(context, "sweep --all");
        const messages = counted(pending, "message");
        await terminal.print(`Pending   ${messages} being written, or left by a writer that died`);
        await terminal.print(`          (${sweep} ends those whose lease ran out)`);
      }
      for (const line of ruleLines(rules)) await terminal.print(line);
      if (verified !== undefined) await printVerification(context, verified);
      for (const { tenant, ...index } of rebuilt ?? []) {
        await terminal.print(`Rebuilt   ${tenant}: ${formatIndex(index)}`);
      }
      for (const { tenant, ...index } of purged ?? []) {
        await terminal.print(`Purged    ${tenant}: ${formatIndex(index)}`);
      }
      return ok ? EXIT.ok : EXIT.nothing;
    });
    if (purge && !remote) noteLogs(context);
    return code;
  },
});

function isOwn(engine: EngineApi): engine is Engine {
  return "checkSettings" in engine;
}

/** A store with fewer changes has no index yet. */
const UNBUILT = 1_024;

/** Rebuilds an index that was ahead of the store. */
async function acceptLosses(engine: Engine): Promise<readonly StoreLoss[]> {
  const accepted = await engine.acceptLosses();
  const known = await engine.listTenants();
  const tenants = accepted.flatMap((loss) => (loss.kind === "index" ? [loss.tenant] : []));
  const there = tenants.filter((tenant) => known.includes(tenant));
  await maintainTenants(engine, there, "rebuild", "Rebuilding the index");
  return accepted;
}

/** Damage may make even the status unreadable: then the report is shorter. */
async function readStatus(
  context: Context,
  engine: EngineApi,
  damage: readonly string[],
): Promise<{ readonly status: DoctorStatus; readonly damage: readonly string[] }> {
  try {
    return { status: toWireStatus(await engine.status()), damage };
  } catch (error) {
    if (!BackscrollError.is(error, "store_corrupt")) throw error;
    const status = {
      backend: null,
      address: hidePasswords(context.address),
      schema_version: null,
      losses: [],
      tenants: [],
    };
    return { status, damage: damage.length > 0 ? damage : [error.message] };
  }
}

/** The part of the status that `doctor` prints. */
interface DoctorStatus {
  readonly backend: WireStatus["backend"] | null;
  readonly address: string;
  readonly schema_version: number | null;
  readonly losses: WireStatus["losses"];
  readonly tenants: WireStatus["tenants"];
}

function tenantsOf(status: DoctorStatus): string[] {
  return status.tenants.map(({ tenant }) => tenant);
}

async function verify(engine: EngineApi, head: string | undefined): Promise<VerifyReport> {
  const progress = new Progress();
  try {
    return await engine.verify({
      onProgress: ({ tenant, checked }) =>
        progress.show(() => `Verifying ${tenant}: ${formatCount(checked)} entries and changes`),
      ...(head === undefined ? {} : { head: head.toLowerCase() }),
    });
  } finally {
    progress.end();
  }
}

/** Closing the store emptied its logs, unless a reader was active. */
export function noteLogs(context: Context): void {
  const logs = ["-wal", "-index-wal"].map((suffix) => `${context.address}${suffix}`);
  const full = logs.filter((log) => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (full.length === 0) return;
  context.terminal.note(
    `Another process is using the store: ${full.join(" and ")} may still hold what was deleted. Purge again once it has ended.`,
  );
}

async function printVerification(context: Context, report: VerifyReport): Promise<void> {
  const { terminal } = context;
  const { sessions, entries, changes, problems, problemCount, heads } = report;
  const looked = [
    counted(sessions, "session"),
    counted(entries, "entry"),
    counted(changes, "change"),
  ];
  const found = problemCount === 0 ? "all match" : counted(problemCount, "problem");
  await terminal.print(`Hashes    ${looked.join(", ")}: ${found}`);
  for (const { tenant, sessionId, entryId, problem } of problems) {
    const where = [tenant, sessionId, entryId].filter((part) => part !== null).join(" ");
    await terminal.print(`  ${where}: ${problem}`);
  }
  const left = problemCount - problems.length;
  if (left > 0) await terminal.print(`  and ${counted(left, "problem")} more`);
  for (const [tenant, head] of Object.entries(heads)) {
    await terminal.print(`Head      ${head}`);
    await terminal.print(
      `          of tenant ${tenant}; doctor --head HASH checks the feed against it`,
    );
  }
}
