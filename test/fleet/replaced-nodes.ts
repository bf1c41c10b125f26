/** Two nodes of a fleet that are replaced one by one, and callers that know both of them. */

import { pause } from "../../src/async/pause.ts";
import { type ServerNode, startNode } from "../server/node.ts";
import { ROOT } from "../support/cli.ts";

/** A checkout of a version, and its name in reports. */
export interface Version {
  readonly name: string;
  readonly root: string;
}

export const TODAY: Version = { name: "today", root: ROOT };

/** A request that was not answered as asked. */
export interface Failure {
  readonly what: string;
  /** The status with the code of the problem, or the code of the broken connection. */
  readonly why: string;
  /** The signal that ended its own node, if that was being replaced while it ran. */
  readonly signal: NodeJS.Signals | undefined;
}

/** Between two attempts of a caller. */
const RETRY_MS = 10;

interface Place {
  node: ServerNode;
  version: Version;
  isReplaced: boolean;
  replacements: number;
  /** Of the last replacement. */
  signal: NodeJS.Signals | undefined;
}

export class Nodes {
  readonly failures: Failure[] = [];
  answered = 0;
  readonly #db: string;
  readonly #places: readonly Place[];

  private constructor(db: string, places: readonly Place[]) {
    this.#db = db;
    this.#places = places;
  }

  static async start(db: string, versions: readonly [Version, Version]): Promise<Nodes> {
    const places: Place[] = [];
    // The first one creates the schema.
    for (const version of versions) {
      const node = await serve(db, version);
      places.push({ node, version, isReplaced: false, replacements: 0, signal: undefined });
    }
    return new Nodes(db, places);
  }

  /** Ends a node with the signal, and starts one of the version in its place. */
  async replace(at: number, version: Version, signal: NodeJS.Signals): Promise<void> {
    const place = this.#place(at);
    place.isReplaced = true;
    place.signal = signal;
    const ended = await place.node.stop(signal);
    if (ended !== (signal === "SIGTERM" ? 0 : signal)) {
      throw new Error(
        `a node of ${place.version.name} ended with ${ended}: ${place.node.stderr()}`,
      );
    }
    place.node = await serve(this.#db, version);
    place.version = version;
    place.replacements++;
    place.isReplaced = false;
  }

  version(at: number): string {
    return this.#place(at).version.name;
  }

  /** What a running node has written to its log. */
  log(at: number): string {
    return this.#place(at).node.stderr();
  }

  /** The answer of a node; undefined if it failed, which is noted. */
  async ask(at: number, path: string, body?: object, key?: string): Promise<unknown> {
    const place = this.#place(at);
    const { replacements, version } = place;
    const wasReplaced = place.isReplaced;
    const failed = (why: string) => {
      const isExplained = wasReplaced || place.isReplaced || place.replacements > replacements;
      const what = `${body === undefined ? "GET" : "POST"} ${path} of ${version.name}`;
      this.failures.push({ what, why, signal: isExplained ? place.signal : undefined });
      return undefined;
    };
    try {
      const response = await fetch(`${place.node.url}${path}`, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: {
          "content-type": "application/json",
          ...(key === undefined ? {} : { "idempotency-key": key }),
        },
      });
      const text = await response.text();
      if (!response.ok) return failed(`${response.status} ${text}`);
      this.answered++;
      return text === "" ? {} : JSON.parse(text);
    } catch (error) {
      const { cause, message } = error as { cause?: { code?: string }; message: string };
      return failed(cause?.code ?? message);
    }
  }

  /** Repeats a request at one node after the other until it is answered. */
  async insist(first: number, path: string, body?: object, key?: string): Promise<unknown> {
    for (let at = first; ; at = 1 - at) {
      const answer = await this.ask(at, path, body, key);
      if (answer !== undefined) return answer;
      await pause(RETRY_MS);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#places.map(({ node }) => node.stop("SIGKILL")));
  }

  #place(at: number): Place {
    return this.#places[at] as Place;
  }
}

function serve(db: string, { root }: Version): Promise<ServerNode> {
  return startNode(["--db", db, "--log", "none"], {}, root);
}
