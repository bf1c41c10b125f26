import { thisMachine } from "../../../ingest/identity/identity.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { AGENTS } from "../../setup/agents.ts";
import { askText, askYesNo, canAsk } from "../../setup/ask.ts";
import { runSetup } from "../../setup/run-setup.ts";

export const setup: Command = defineCommand({
  name: "setup",
  summary: "Add Backscroll to the agents on this machine, as their MCP server.",
  details:
    "Finds the agents, shows what it would add to which file, asks, replaces the file atomically, with a backup beside it (FILE.before-backscroll), and starts the server as that agent would. Running it again changes nothing; an entry changed by hand stays unless --replace is given. --db and --tenant become part of the entry. The first time it asks how long conversations are kept. docs/setup.md has the files and formats.",
  arguments: [
    {
      name: "AGENT",
      many: true,
      optional: true,
      help: `${AGENTS.map(({ name }) => name).join(", ")}; those that are found if left out.`,
    },
  ],
  options: {
    "dry-run": { type: "boolean", help: "Show what would be written, and write nothing." },
    yes: { type: "boolean", short: "y", help: "Write without asking; needed without a terminal." },
    remove: { type: "boolean", help: "Take out what setup added, hooks included." },
    check: { type: "boolean", help: "Write nothing: start the servers that are set up." },
    replace: { type: "boolean", help: "Overwrite entries that were changed by hand." },
    hooks: { type: "boolean", help: "Add the hooks of Claude Code, too." },
    "no-hooks": { type: "boolean", help: "Do not offer the hooks." },
    "no-check": { type: "boolean", help: "Do not start the server after writing." },
  },
  examples: [
    "setup cursor --dry-run",
    "setup claude-code codex --yes",
    "setup --check",
    "setup --remove --yes",
  ],
  run: (context, args, options) => {
    const { remove = false, check = false, hooks = false } = options;
    const pairs = [
      ["remove", "check"],
      ["remove", "replace"],
      ["hooks", "no-hooks"],
      ["check", "no-check"],
      ["check", "hooks"],
      // `--check` writes no file, and `--dry-run` starts no server.
      ["check", "dry-run"],
    ] as const;
    for (const [one, other] of pairs) {
      if (options[one] && options[other]) {
        throw usageError(`--${one} and --${other} cannot go together`, `--${other}`);
      }
    }
    return runSetup(
      context,
      args.AGENT ?? [],
      {
        remove,
        check,
        hooks: options["no-hooks"] ? false : hooks ? true : undefined,
        dryRun: options["dry-run"] ?? false,
        yes: options.yes ?? false,
        replace: options.replace ?? false,
        tries: !options["no-check"],
      },
      thisMachine(),
      { isThere: canAsk(), ask: askYesNo, askText },
    );
  },
});
