import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { readVersion, versions } from "../../program.ts";

export const version: Command = defineCommand({
  name: "version",
  summary: "Print the version.",
  details: "With --json also those of Node and SQLite. The same as --version and -v.",
  examples: ["version"],
  run: async ({ json, terminal }) => {
    if (json) await terminal.printJson(versions());
    else await terminal.print(readVersion());
    return EXIT.ok;
  },
});
