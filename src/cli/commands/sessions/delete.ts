import { toWire } from "../../../api/shape.ts";
import type { Derived } from "../../../engine/forget.ts";
import { TOMBSTONE } from "../../../model/answers/store.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { askYesNo, canAsk } from "../../setup/ask.ts";
import { type Access, withStore } from "../../store.ts";

export const deleteSession: Command = defineCommand({
  name: "delete",
  summary: "Delete a session and everything inside it, permanently.",
  details:
    "A tombstone stays: a hash of the content, without the content. Forks hold copies of its messages, and memories may derive from it: without --yes the command lists what would be deleted and what would stay.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    yes: { type: "boolean", help: "Confirms the deletion." },
    cascade: { type: "boolean", help: "Also its forks, and the memories that were taken from it." },
  },
  examples: ["delete 5f0c2a91 --yes"],
  run: (context, args, options) => runDeletion(context, args.SESSION, options, "Deleted"),
});

export interface DeletionOptions {
  readonly yes?: boolean;
  readonly cascade?: boolean;
}

/** `verb` is printed with the result. */
export function runDeletion(
  context: Context,
  id: string,
  options: DeletionOptions,
  verb: string,
): Promise<number> {
  return withStore(context, accessToDelete(context, options.yes), async (tenant) => {
    const cascade = options.cascade ?? false;
    const session = await tenant.getSessionMeta(id);
    if (!options.yes) {
      const what = `session ${session.shortId} with ${counted(session.messageCount, "message")}`;
      const others = describeOthers(await tenant.listDerived(session.id), cascade);
      if (!(await confirmDeletion(context, `${what}${others}`))) return EXIT.nothing;
    }
    const tombstone = await tenant.deleteSession(session.id, { cascade });
    if (context.json) await context.terminal.printJson(toWire(TOMBSTONE, tombstone));
    else await context.terminal.print(`${verb} ${counted(tombstone.entryCount, "entry")}.`);
    return EXIT.ok;
  });
}

/** A question is asked with the store open for its answer. */
export function accessToDelete(context: Context, isConfirmed: boolean | undefined): Access {
  return isConfirmed || asks(context) ? "write" : "read";
}

function asks({ json }: Context): boolean {
  return canAsk() && !json;
}

/** Asks at a terminal; elsewhere throws the error that names `--yes`. */
export async function confirmDeletion(context: Context, what: string): Promise<boolean> {
  if (asks(context)) return askYesNo(`Delete ${what} for good?`);
  throw usageError(`this would delete ${what} for good; add --yes`, "--yes");
}

function describeOthers(derived: Derived, cascade: boolean): string {
  const parts = [
    ...(derived.forks.length === 0 ? [] : [counted(derived.forks.length, "fork")]),
    ...(derived.memories.length === 0 ? [] : [counted(derived.memories.length, "memory")]),
  ];
  if (parts.length === 0) return "";
  return cascade
    ? `, ${parts.join(" and ")}`
    : `, but not ${parts.join(" and ")} (--cascade does),`;
}
