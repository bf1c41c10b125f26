import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { RemoteEngine } from "../../../client/remote-engine.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { toErrorLine } from "../../../server/log.ts";
import { MEMORY } from "../../../store/store-options.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { placeOf } from "../../place-of.ts";
import { readVersion } from "../../program.ts";
import { tokenForAddress } from "../../settings/own-servers.ts";
import { withOwnStore, withServer } from "../../store.ts";
import { toCount } from "../../values.ts";
import { copyInProcess } from "./backup-process.ts";
import { localOptions, serveUntilStopped } from "./serve.ts";

export const openPage: Command = defineCommand({
  name: "open",
  summary: "Open the store in a browser: a search, or a session.",
  details:
    "Uses a running server of this store on this machine; otherwise it starts one, which runs until Ctrl-C. With --db http://… it opens that server's page. Prints the address, also where there is no browser. BROWSER names another program than the system's browser.",
  arguments: [
    {
      name: "QUERY",
      rest: true,
      optional: true,
      help: "A query, or a session's id, also with a message's number (5f0c2a91#12); the page itself if left out.",
    },
  ],
  options: {
    port: option("N", "Where the server listens: 7423 if left out."),
    watch: flag("A started server also ingests transcripts as they are written."),
    "no-browser": flag("Print the address and open nothing."),
  },
  examples: ["open why is cron running twice --no-browser"],
  run: async (context, args, options) => {
    // Loaded on demand: no other command should pay for a server.
    const { DEFAULT_PORT } = await import("../../../server/serve.ts");
    const port = toCount(options.port, "--port") ?? DEFAULT_PORT;
    if (port > 65_535) throw usageError("--port is 65535 at most", "--port");
    const isQuiet = options["no-browser"] ?? false;
    const show = async (engine: RemoteEngine, url: string, started: boolean) =>
      showPage(
        context,
        await withCode(url, await pageAddress(engine, url, args.QUERY)),
        started,
        isQuiet,
      );

    if (isServer(context.address)) {
      const url = context.address.replace(/(?<!\/)\/+$/, "");
      await withServer(context, (_tenant, engine) => show(engine, url, false));
      return EXIT.ok;
    }
    const { connect } = await import("../../../client/index.ts");
    const running = await findServer(context, port, connect);
    if (running !== undefined) {
      await show(running.engine, running.url, false);
      await running.engine.close();
      return EXIT.ok;
    }
    return withOwnStore(context, "a server", async (store) => {
      const settings = {
        version: readVersion(),
        tenant: context.tenant,
        local: localOptions(port),
        ...(context.address === MEMORY ? {} : { copyStore: copyInProcess(context.address) }),
      };
      const serving = {
        watch: options.watch ?? false,
        onError: (error: unknown) => context.terminal.note(toErrorLine(error)),
        onListening: async ({ url }: { readonly url: string }) => {
          const engine = await connectHere(connect, url);
          await show(engine, url, true);
          await engine.close();
        },
      };
      try {
        return await serveUntilStopped(context, store, { ...settings, port }, serving);
      } catch (error) {
        // The port is taken, for example by another store's server.
        const isTaken =
          BackscrollError.is(error, "invalid_input") && error.details["field"] === "port";
        if (!isTaken || options.port !== undefined) throw error;
        return serveUntilStopped(context, store, { ...settings, port: 0 }, serving);
      }
    });
  },
});

type Connect = typeof import("../../../client/index.ts")["connect"];

function connectHere(
  connect: Connect,
  url: string,
  options: { readonly retries?: number; readonly timeoutMs?: number } = {},
): Promise<RemoteEngine> {
  const token = tokenForAddress(url);
  return connect(url, token === undefined ? options : { ...options, token });
}

/** A running server of the same store on this machine, if any. */
async function findServer(
  context: Context,
  port: number,
  connect: Connect,
): Promise<{ readonly engine: RemoteEngine; readonly url: string } | undefined> {
  const url = `http://127.0.0.1:${port}`;
  if (port === 0) return undefined;
  let engine: RemoteEngine | undefined;
  try {
    engine = await connectHere(connect, url, { retries: 0, timeoutMs: 2_000 });
    const { address } = await engine.status();
    if (samePlace(address, context.address) && engine.tenant === context.tenant) {
      return { engine, url };
    }
  } catch (error) {
    // No server answers, or it refuses the request: start one.
    if (!BackscrollError.is(error)) throw error;
  }
  await engine?.close();
  return undefined;
}

function samePlace(one: string, other: string): boolean {
  const place = (address: string) => {
    try {
      return realpathSync(resolve(address));
    } catch {
      return address;
    }
  };
  return place(one) === place(other);
}

/** `address` with a code for the page, where the system does not tell whose browser it is. */
async function withCode(url: string, address: string): Promise<string> {
  const token = tokenForAddress(url);
  if (token === undefined) return address;
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/local/code`, { method: "POST", headers });
  // A server that is open to every user, or older, has no codes.
  if (!response.ok) return address;
  const { code } = (await response.json()) as { code: string };
  const [page = "", place = ""] = address.split("#", 2);
  return `${page}#code=${code}${place === "" ? "" : `&${place}`}`;
}

/** A single word may be a session; everything else is a search. */
const NOTHING: { readonly messages: readonly { readonly id: string }[] } = { messages: [] };

async function pageAddress(
  engine: RemoteEngine,
  url: string,
  query: string | undefined,
): Promise<string> {
  if (query === undefined) return `${url}/`;
  if (!/\s/.test(query)) {
    try {
      const { id: named, number } = placeOf(query);
      const { id } = await engine.getSessionMeta(named);
      const at = { offset: Number(number), limit: 1, preview: true };
      const { messages } = number === undefined ? NOTHING : await engine.listMessages(id, at);
      const message = messages[0] === undefined ? "" : `?m=${messages[0].id}`;
      return `${url}/#/session/${encodeURIComponent(id)}${message}`;
    } catch (error) {
      if (!BackscrollError.is(error, "session_not_found")) throw error;
    }
  }
  return `${url}/#/?${new URLSearchParams({ q: query })}`;
}

async function showPage(
  { terminal, json }: Context,
  url: string,
  started: boolean,
  isQuiet: boolean,
): Promise<void> {
  if (json) await terminal.print(JSON.stringify({ url, started }));
  else await terminal.print(url);
  if (started && !json) terminal.note("Serving until Ctrl-C.");
  if (isQuiet || (await openBrowser(encodeUnsafe(url)))) return;
  terminal.note("No browser was opened: open the address in one.");
}

/** Quotes the address against the shell. */
function encodeUnsafe(url: string): string {
  return url.replace(
    /["'`^&|<>$\\]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

/**
 * Opens a URL in this machine's browser.
 *
 * Undefined without a display.
 */
export function browserCommand(
  platform: NodeJS.Platform,
  variables: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = variables;
  if (BROWSER) return [BROWSER];
  if (platform === "darwin") return ["open"];
  // `start` treats a quoted first word as a window title.
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  return DISPLAY || WAYLAND_DISPLAY ? ["xdg-open"] : undefined;
}

/** False if there is no browser, or it does not start. Does not wait for it to end. */
function openBrowser(address: string): Promise<boolean> {
  // It becomes a command's argument: only http URLs are allowed.
  if (!/^https?:\/\/[^\s"'`^&|<>$\\]+$/.test(address)) {
    throw new BackscrollError("invalid_address", `${address.slice(0, 80)} cannot be opened`);
  }
  const [file, ...words] = browserCommand(process.platform, process.env) ?? [];
  if (file === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(file, [...words, address], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
