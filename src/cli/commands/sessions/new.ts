import { toWireSession } from "../../../api/session.ts";
import type { Retention } from "../../../model/session.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { given, toCount, toJsonObject } from "../../values.ts";

export const newSession: Command = defineCommand({
  name: "new",
  aliases: ["new_session"],
  summary: "Create a session and print its id. Creates the store, too, if there is none.",
  options: {
    agent: { type: "string", value: "NAME", help: "The agent whose conversation it is. Required." },
    by: { type: "string", value: "NAME", help: "The creator. Required." },
    title: { type: "string", value: "TEXT", help: "A title; empty if left out." },
    id: { type: "string", value: "ID", help: "An id of your own; a new one if left out." },
    owner: { type: "string", value: "NAME", help: "The owner; the creator if left out." },
    metadata: { type: "string", value: "JSON", help: "A JSON object to keep with it." },
    ttl: {
      type: "string",
      value: "SECONDS",
      help: "A sweep deletes it this long after its last write; never if left out.",
    },
    retention: {
      type: "string",
      value: "HOW",
      help: "The retention of summarised content: full (if left out), audit-only or ephemeral.",
    },
    key: {
      type: "string",
      value: "KEY",
      help: "The same request under the same key gives the same session, for seven days.",
    },
  },
  examples: ['new --agent coder --by ana --title "Cron runs twice"'],
  run: (context, _args, options) => {
    const { agent, by, title, id, owner } = options;
    if (agent === undefined) throw usageError("new needs --agent NAME", "--agent");
    if (by === undefined) throw usageError("new needs --by NAME", "--by");
    const input = {
      agent,
      createdBy: by,
      ...given({ title, id, owner, idempotencyKey: options.key }),
      ...given({ metadata: toJsonObject(options.metadata, "--metadata") }),
      ...given({ ttl: toCount(options.ttl, "--ttl") }),
      ...given({ retention: options.retention as Retention | undefined }),
    };
    return withStore(context, "create", async (tenant) => {
      const handle = await tenant.createSession(input);
      const { terminal } = context;
      if (context.json) await terminal.printJson(toWireSession(await handle.meta()));
      else await terminal.print(handle.id);
      return EXIT.ok;
    });
  },
});
