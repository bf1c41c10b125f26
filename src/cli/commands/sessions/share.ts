import { SHARE_PATH } from "../../../api/part-operations.ts";
import { toWire } from "../../../api/shape.ts";
import { SHARE } from "../../../model/answers/store.ts";
import { defined } from "../../../model/defined.ts";
import { DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS } from "../../../model/limits.ts";
import { requireAllowed } from "../../../policy.ts";
import { type Command, defineCommand, option, usageError } from "../../command.ts";
import { isServer } from "../../context.ts";
import { formatTime } from "../../print.ts";
import { printList } from "../../print-list.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";
import { toCount } from "../../values.ts";

const DAY_MS = 86_400_000;
/** Where `serve` listens unless told otherwise. */
const SERVED_HERE = "http://127.0.0.1:7423";

export const share: Command = defineCommand({
  name: "share",
  summary: "Make a link by which others read one session; or list the links.",
  details: `The link shows the session as it is then and later, read-only, with secrets masked, to everybody who has it, for ${DEFAULT_SHARE_DAYS} days. It leads to the server of --db, or to the one on this machine, which has to run and to be reached. For a file in place of a link: export SESSION page.html.`,
  arguments: [
    { name: "SESSION", optional: true, help: "By any of its ids; left out: list the open links." },
  ],
  options: {
    days: option(
      "N",
      `How long it is open: at most ${MAX_SHARE_DAYS} days, ${DEFAULT_SHARE_DAYS} if left out.`,
    ),
    end: option("ID", "Close the link with this id."),
  },
  examples: ["share 5f0c2a91", "share"],
  run: (context, { SESSION: ref }, options) => {
    const { terminal, json } = context;
    if (options.end !== undefined && ref !== undefined) {
      throw usageError("--end closes a link by its own id; leave out SESSION", "--end");
    }
    if (options.days !== undefined && (ref === undefined || options.end !== undefined)) {
      throw usageError("--days needs a SESSION to share", "--days");
    }
    if (options.end !== undefined) {
      const id = options.end;
      return withStore(context, "write", async (tenant) => {
        await tenant.shares.revoke(id);
        if (!json) await terminal.print(`Closed ${id}`);
      });
    }
    if (ref === undefined) {
      return withStore(context, "read", async (tenant) => {
        const shares = await tenant.shares.list();
        return printList(context, {
          json: { shares: shares.map((each) => toWire(SHARE, each)) },
          header: ["ID", "SESSION", "UNTIL"],
          rows: shares.map(({ id, sessionId, expiresAt }) => [
            id,
            sessionId,
            formatTime(expiresAt),
          ]),
          none: "No link is open.",
        });
      });
    }
    requireAllowed("shares");
    const days = toCount(options.days, "--days");
    return withStore(context, "write", async (tenant) => {
      const { id } = await tenant.getSessionMeta(ref);
      const expires = days === undefined ? undefined : Date.now() + days * DAY_MS;
      const made = await tenant.shares.create(id, defined({ expires }));
      const base = isServer(context.address) ? context.address : SERVED_HERE;
      const url = new URL(SHARE_PATH + made.token, base).href;
      if (json) return terminal.printJson({ url, share: toWire(SHARE, made.share) });
      await terminal.print(oneLine(url));
      terminal.note(
        `Open until ${formatTime(made.share.expiresAt)}. To close it: ${commandLine(context, `share --end ${made.share.id}`)}`,
      );
      if (base === SERVED_HERE) {
        terminal.note(`It opens while the store is served: ${commandLine(context, "serve")}`);
      }
    });
  },
});
