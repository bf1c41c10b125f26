import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { FreshReader } from "../../../archive/fresh-reader.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import type { Unread } from "../../../mcp/host.ts";
import { defined } from "../../../model/defined.ts";
import { isSwitchedOff, readVariable } from "../../../model/variables.ts";
import { toErrorLine } from "../../../server/log.ts";
import { MEMORY } from "../../../store/store-options.ts";
import { type Command, defineCommand, flag, option } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { armFinalRead, Follower, type FollowerOptions, QUIET_SECONDS } from "../../follow.ts";
import { agentHost } from "../../hub/agent-host.ts";
import { FRESH_MS } from "../../hub/hub.ts";
import { PIPE_VARIABLE } from "../../pipe/place.ts";
import { withStore } from "../../store.ts";
import { toNumber } from "../../values.ts";

/**
 * Keeps a store up to date beside an MCP server: reads new lines before a call, and follows
 * transcripts between calls.
 */
class Keeper {
  readonly #follower: Follower;
  readonly #reader: Promise<FreshReader>;

  constructor(context: Context, tenant: TenantApi, options: FollowerOptions) {
    const { onError } = options;
    this.#follower = new Follower(context, options);
    // Loaded during the client's handshake.
    this.#reader = import("../../../archive/fresh-reader.ts").then(
      (module) =>
        new module.FreshReader(tenant, {
          environment: thisMachine(),
          cwd: process.cwd(),
          budgetMs: FRESH_MS,
          onError,
          isFollowed: () => this.#follower.isReady,
        }),
    );
    this.#reader.catch(onError);
  }

  /** As `freshen` of a host. */
  readonly freshen = async (): Promise<Unread> => (await this.#reader).read();

  /** Records a request. */
  asked(): void {
    this.#follower.asked();
  }

  /** Resolves after the signal is aborted. */
  async ended(): Promise<void> {
    await Promise.all([this.#follower.ended(), (await this.#reader).ended()]);
  }
}

/** Signals with which clients end a server, beside closing its input. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Clients kill a server that has not ended 100 ms after the first signal. */
const ENDING_MS = 30;

export const mcp: Command = defineCommand({
  name: "mcp",
  summary: "Serve agents over MCP, on standard input and output.",
  details:
    "Agents start it themselves: backscroll setup adds it to Claude Code, Codex, Cursor and others. Before a tool answers, it stores new lines of this machine's transcripts for at most 300 ms, and the rest in the background. Of the processes that share a store, one does the background work; with a server as --db, none. Ends when the agent closes its input. With BACKSCROLL=off in its environment it stores nothing, has only tools that read, and makes the agent's session incognito as soon as it is named.",
  options: {
    "read-only": flag("Only tools that change nothing."),
    "all-tools": flag(
      "List every tool with every argument, for programs; agents get the seven that they need.",
    ),
    "no-ingest": flag("Do not ingest this machine's transcripts."),
    actor: option("NAME", "The actor of all messages and notes."),
    session: option(
      "ID",
      "The session that the agent speaks in, by our id or its own: searches leave it out. Claude Code, Codex, VS Code and Qwen Code name it by themselves.",
    ),
    "final-read": option(
      "SECONDS",
      `After the agent has closed the input, a detached process stores its last lines, until this long without a write; 0: no such process, ${QUIET_SECONDS} if left out.`,
    ),
  },
  examples: ["mcp --read-only --no-ingest < /dev/null"],
  run: async (context, _args, options) => {
    const quietSeconds = toNumber(options["final-read"], "--final-read") ?? QUIET_SECONDS;
    const onError = (error: unknown) => context.terminal.note(toErrorLine(error));
    // An in-memory store belongs to this process, and a server follows its own machine.
    const isOwn = context.address !== MEMORY && !isServer(context.address);
    const isOff = isSwitchedOff("BACKSCROLL", process.env);
    readVariable("BACKSCROLL_HUB", process.env);
    readVariable("BACKSCROLL_UNATTENDED", process.env);
    const isKept = isOwn && !isOff && options["no-ingest"] !== true;
    const owner = randomUUID();
    // First: a client may kill its server before a store is open.
    const isRead = isKept && quietSeconds > 0;
    const beginFinalRead = isRead
      ? armFinalRead(context, { quietSeconds, owner, onError })
      : undefined;
    // In parallel: loading the protocol takes as long as opening the store.
    const loading = import("../../../mcp/stdio.ts");
    loading.catch(() => undefined);
    // A read-only store is opened for reading; a missing one is created.
    const isReader =
      options["read-only"] === true && !isKept && !isOff && existsSync(context.address);
    return withStore(context, isReader ? "read" : "create", async (tenant) => {
      const { serveMcpStdio } = await loading;
      const host = agentHost(tenant, {
        ...defined({ actor: options.actor, session: options.session }),
        "read-only": options["read-only"] ?? false,
        "all-tools": options["all-tools"] ?? false,
        isOff,
        pipe: process.env[PIPE_VARIABLE],
        startedAt: Math.floor(performance.timeOrigin),
        cwd: process.cwd(),
        variables: process.env,
        onError,
      });
      const end = new AbortController();
      const stop = (name: NodeJS.Signals) => {
        end.abort();
        // The client has left: the signal ends the process at once, where exit() would first
        // stop its threads. What was acknowledged is stored; the input may stay open for ever.
        setTimeout(() => process.kill(process.pid, name), ENDING_MS).unref();
      };
      for (const name of ENDING) process.once(name, stop);
      const settings = { signal: end.signal, owner, onError };
      const keeper = isKept ? new Keeper(context, tenant, settings) : undefined;
      try {
        await serveMcpStdio(keeper === undefined ? host : { ...host, freshen: keeper.freshen }, {
          signal: end.signal,
          onMessage: () => keeper?.asked(),
        });
      } finally {
        end.abort();
        beginFinalRead?.();
        await keeper?.ended();
        for (const name of ENDING) process.off(name, stop);
      }
    });
  },
});
