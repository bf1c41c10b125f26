import { hidePasswords } from "../../../api/address.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { maintainTenants } from "../../maintain-tenants.ts";
import { counted, formatCount } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { Progress } from "../../progress.ts";
import { refuseServer, withOwnEngine } from "../../store.ts";

export const restore: Command = defineCommand({
  name: "restore",
  summary: "Fill a new or empty store from a backup, atomically.",
  details:
    "The store may be of the other backend: this is also how to move from SQLite to PostgreSQL. Feed cursors of the original expire. The index is built before the command ends. A server's store is filled while no server runs on it: see docs/server.md.",
  arguments: [{ name: "FILE", help: "The backup." }],
  examples: ["restore ~/backscroll-monday.db --db ~/restored.db"],
  run: async (context, args) => {
    refuseServer(
      context,
      "restore",
      "stop the server, run it on the server's machine with --db of a new store, and serve that",
    );
    const progress = new Progress();
    const { restore: fillStore } = await import("../../../backup.ts");
    const report = await fillStore(args.FILE, context.address, {
      onProgress: (rows) => progress.show(() => `Copied ${formatCount(rows)} rows`),
    }).finally(() => progress.end());
    await buildIndex(context);
    const address = hidePasswords(context.address);
    if (context.json) await context.terminal.printJson({ file: report.file, rows: report.rows });
    else await context.terminal.print(`Restored ${counted(report.rows, "row")} to ${address}`);
    return EXIT.ok;
  },
});

/** The copy is whole without its index, which can be built later. */
async function buildIndex(context: Context): Promise<void> {
  try {
    await withOwnEngine(context, async (engine) =>
      maintainTenants(engine, await engine.listTenants(), "flush", "Building the index"),
    );
  } catch (error) {
    if (!BackscrollError.is(error)) throw error;
    const rebuild = commandLine(context, "doctor --rebuild");
    context.terminal.note(
      `The store is restored, but its index is not built: ${error.message}. To build it: ${rebuild}`,
    );
  }
}
