import type { McpHost } from "../../../mcp/host.ts";
import { toErrorLine } from "../../../server/log.ts";
import { type Command, defineCommand } from "../../command.ts";
import { isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { Follower } from "../../follow/follower.ts";
import { readVersion } from "../../program.ts";
import { withStore } from "../../store.ts";

export const mcp: Command = defineCommand({
  name: "mcp",
  summary: "Serve agents over MCP, on standard input and output.",
  details:
    "An agent starts this itself: docs/mcp.md says how to add it to Claude Code, Codex, Cursor and others. In the background it stores the transcripts that agents write on this machine; of several that share a store, one does, and none where --db is a server. Ends when the agent closes its end.",
  options: {
    "read-only": { type: "boolean", help: "Only tools that change nothing." },
    "no-ingest": { type: "boolean", help: "Leave the transcripts on this machine alone." },
    actor: {
      type: "string",
      value: "NAME",
      help: "Who writes: messages and notes are of this actor and no other.",
    },
    session: {
      type: "string",
      value: "ID",
      help: "The session that the agent speaks in: searches leave it out.",
    },
  },
  examples: ["mcp --read-only --no-ingest < /dev/null"],
  run: async (context, _args, options) => {
    // The protocol takes as long to load as the store to open.
    const loading = import("../../../mcp/stdio.ts");
    loading.catch(() => undefined);
    return withStore(context, "create", async (tenant) => {
      const { serveMcpStdio } = await loading;
      const { actor, session } = options;
      const onError = (error: unknown) => context.terminal.note(toErrorLine(error));
      const host: McpHost = {
        tenant,
        access: {
          ...{ tenant: tenant.tenant, scope: options["read-only"] ? "read" : "write" },
          ...{ actor: actor ?? null, actAs: actor === undefined ? "any" : [] },
          ...{ operator: false, tokenId: null },
        },
        version: readVersion(),
        cwd: process.cwd(),
        ...(session === undefined ? {} : { session }),
        onError,
      };
      const end = new AbortController();
      const stop = () => end.abort();
      process.once("SIGINT", stop).once("SIGTERM", stop);
      // A store in memory is this process's alone, and a server follows its own machine.
      const isOwn = context.address !== ":memory:" && !isServer(context.address);
      const isKept = isOwn && options["no-ingest"] !== true;
      const follower = isKept ? new Follower(context, end.signal, onError) : undefined;
      try {
        await serveMcpStdio(host, {
          signal: end.signal,
          onMessage: () => follower?.asked(),
        });
      } finally {
        end.abort();
        await follower?.ended();
        process.off("SIGINT", stop).off("SIGTERM", stop);
      }
      return EXIT.ok;
    });
  },
});
