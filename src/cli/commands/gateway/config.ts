import type { ReadSetting } from "../../../gateway/config/read-config.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { ownConfig } from "../../gateway/own-config.ts";
import { formatTable } from "../../print.ts";

export const config: Command = defineCommand({
  name: "config",
  summary: "Show the gateway's settings, and where each comes from.",
  details:
    "The file is ~/.backscroll/config.json, or the one that BACKSCROLL_CONFIG names; it need not be there. A value of the wrong kind is an error that names its key, and keys that mean nothing are told of.",
  options: {
    explain: {
      type: "boolean",
      help: "Also say what each setting does, and show all that there are.",
    },
  },
  examples: ["config", "config --explain"],
  run: async (context, _args, options) => {
    const { path, exists, settings, unknown } = ownConfig();
    const { terminal } = context;
    if (context.json) {
      await terminal.printJson({ path, exists, settings, unknown });
      return EXIT.ok;
    }
    await terminal.print(`${path}${exists ? "" : " (there is none: everything has its default)"}`);
    const shown = options.explain ? settings : settings.filter(isSet);
    const header = ["SETTING", "VALUE", "FROM", ...(options.explain ? ["WHAT IT DOES"] : [])];
    const rows = shown.map(({ key, value, from, help }) => [
      ...[key, value === null ? "–" : formatValue(value), from],
      ...(options.explain ? [help] : []),
    ]);
    for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
    for (const key of unknown) terminal.note(`${key} means nothing here: is it spelt right?`);
    return EXIT.ok;
  },
});

/** What nobody has set and has no default says nothing to who does not ask. */
function isSet({ value }: ReadSetting): boolean {
  return value !== null;
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
