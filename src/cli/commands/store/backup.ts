import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { explainMissingStore, refuseServer } from "../../store.ts";

export const backup: Command = defineCommand({
  name: "backup",
  summary: "Copy the whole store, all tenants, to a new file while others go on writing.",
  details:
    "The copy holds one moment of the store and is itself a SQLite store, whatever the original is. A database file copied by hand, without its write-ahead log, lacks the newest turns.",
  arguments: [{ name: "FILE", help: "A file that does not exist yet." }],
  examples: ["backup ~/backscroll-monday.db"],
  run: async (context, args) => {
    refuseServer(context, "backup", "run it on the server's machine, or export --all --raw");
    const progress = new Progress();
    const { backup: copyStore } = await import("../../../backup.ts");
    const report = await explainMissingStore(context, () =>
      copyStore(context.address, args.FILE, {
        onProgress: (rows) => progress.show(() => `Copied ${formatCount(rows)} rows`),
      }),
    ).finally(() => progress.end());
    if (context.json) await context.terminal.printJson({ file: report.file, rows: report.rows });
    else await context.terminal.print(`Copied ${counted(report.rows, "row")} to ${report.file}`);
    return EXIT.ok;
  },
});
