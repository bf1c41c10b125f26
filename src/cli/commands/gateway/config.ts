import type { ReadSetting } from "../../../gateway/config/read-config.ts";
import { defined } from "../../../model/defined.ts";
import type { IndexSetting } from "../../../store/index/stored-indexing.ts";
import { type Command, defineCommand, type ExitCode, flag, option } from "../../command.ts";
import type { Context } from "../../context.ts";
import { maintainTenants } from "../../maintain-tenants.ts";
import { formatTable } from "../../print.ts";
import { ownConfig } from "../../settings/own-config.ts";
import { refuseServer, withOwnEngine } from "../../store.ts";
import { formatIndex } from "../store/status.ts";

export const config: Command = defineCommand({
  name: "config",
  summary: "Show the gateway's settings, and where each comes from; change how a store is indexed.",
  details:
    "How text is indexed is a setting of the store itself, the same for every process: --index-tools and --index-language change it and build the index of every tenant again. The gateway's file is ~/.backscroll/config.json, or the one that BACKSCROLL_CONFIG names; the file is optional. A value of the wrong type, or an unknown key, is an error that names the key.",
  options: {
    explain: flag("Show all settings, with their effects."),
    "index-tools": option(
      "WHAT",
      "How much of tool traffic is indexed: names, inputs (names and arguments) or all (results, too).",
    ),
    "index-language": option("NAME", "english (words are stemmed) or simple (they are not)."),
  },
  examples: ["config", "config --explain", "config --index-tools names"],
  run: async (context, _args, options) => {
    const { "index-tools": tools, "index-language": language } = options;
    if (tools !== undefined || language !== undefined) {
      return changeIndexing(context, defined({ tools, language }));
    }
    const { path, exists, settings } = ownConfig();
    const { terminal } = context;
    if (context.json) return terminal.printJson({ path, exists, settings });
    await terminal.print(`${path}${exists ? "" : " (missing: every setting has its default)"}`);
    const shown = options.explain ? settings : settings.filter(isSet);
    const header = ["SETTING", "VALUE", "FROM", ...(options.explain ? ["WHAT IT DOES"] : [])];
    const rows = shown.map(({ key, value, from, help }) => [
      key,
      value === null ? "–" : formatValue(value),
      from,
      ...(options.explain ? [help] : []),
    ]);
    for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
  },
});

/** The engine checks the values. */
async function changeIndexing(
  context: Context,
  change: { readonly tools?: string; readonly language?: string },
): Promise<ExitCode> {
  refuseServer(context, "a change of how the store is indexed", "run it where the store is");
  return withOwnEngine(context, async (engine) => {
    const setting = await engine.setIndexing(change as Partial<IndexSetting>);
    const tenants = await engine.listTenants();
    const rebuilt = await maintainTenants(engine, tenants, "maintain", "Building the index again");
    const { terminal } = context;
    if (context.json) return terminal.printJson({ indexing: setting, rebuilt });
    await terminal.print(`Indexing  tools ${setting.tools}, language ${setting.language}`);
    for (const { tenant, ...index } of rebuilt) {
      await terminal.print(`Rebuilt   ${tenant}: ${formatIndex(index)}`);
    }
  });
}

/** Hides settings without a value and default, unless requested. */
function isSet({ value }: ReadSetting): boolean {
  return value !== null;
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
