import { conversationIds, MCP_CLIENTS } from "../../../mcp/clients.ts";
import { keepNothing } from "../../../mcp/own-session.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { withStore } from "../../store.ts";

/** An agent's own id is longer than a short one, which nothing could be stored under later. */
const SHORTEST_ID = 16;

export const incognito: Command = defineCommand({
  name: "incognito",
  summary: "Keep nothing of a running session: delete what is stored, and store no more.",
  details:
    "Without SESSION, the session of the agent that runs this command, where its environment names it (Claude Code, Qwen Code). A mark, a hash of the agent's id, keeps every process of this store from storing later lines; sub-agents, forks, the kept bytes of the file and memories taken from the session go with it. What was sent to a model, backed up or exported before stays there. ingest FILE --force takes the mark back.",
  arguments: [
    {
      name: "SESSION",
      optional: true,
      help: "The session's id: short, whole, or its agent's own, which need not be stored yet.",
    },
  ],
  examples: ["incognito 0f6a2c1e-8d4b-4c5a-9e8f-7b6a5c4d3e2f"],
  run: (context, args) => {
    const named =
      args.SESSION === undefined ? conversationIds({ variables: process.env }) : [args.SESSION];
    if (named.length === 0) {
      const variables = MCP_CLIENTS.flatMap((client) => client.variables).join(", ");
      throw usageError(
        `no variable of this environment names the running session (${variables}); name it: incognito SESSION`,
        "SESSION",
      );
    }
    return withStore(context, "create", async (tenant) => {
      if (args.SESSION !== undefined && args.SESSION.length < SHORTEST_ID) {
        // A misspelt short id would hide nothing.
        await tenant.getSessionMeta(args.SESSION).catch((error: unknown) => {
          if (!BackscrollError.is(error, "session_ambiguous")) throw error;
        });
      }
      const deleted = await keepNothing(tenant, named);
      const { terminal, json } = context;
      if (json) await terminal.printJson({ sessions: named, deleted });
      else {
        await terminal.print(
          `Nothing of session ${named.join(", ")} is kept: ${counted(deleted, "session")} deleted, and no more will be stored.`,
        );
      }
      return EXIT.ok;
    });
  },
});
