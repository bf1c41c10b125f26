/**
 * A server with all kinds of data for two tenants that must not see each other.
 *
 * The first tenant's data carries a marker, so that a byte of it in another's answer is found.
 */

import { type Engine, open } from "../../src/index.ts";
import type { AccessScope } from "../../src/model/access.ts";
import { openServer, type RunningServer, type ServerOptions } from "../../src/server/serve.ts";

export const MARKER = "quizzaciously";

export interface World {
  readonly engine: Engine;
  readonly server: RunningServer;
  readonly url: string;
  readonly tokens: Readonly<Record<Caller, string>>;
  /** Ids of the first tenant's rows. */
  readonly ids: Readonly<Record<string, string>>;
  /** The headers of a caller who sends JSON. */
  headersOf(caller: Caller): Record<string, string>;
  /** Serves the same store with other options while `use` runs. */
  withServer(
    options: Partial<ServerOptions>,
    use: (server: RunningServer) => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

export type Caller = "reader" | "writer" | "admin" | "operator" | "stranger";

export async function createWorld(address = ":memory:"): Promise<World> {
  const engine = await open(address);
  const tokens = {} as Record<Caller, string>;
  const ways: readonly (readonly [Caller, string, AccessScope])[] = [
    ["reader", "acme", "read"],
    ["writer", "acme", "write"],
    ["admin", "acme", "admin"],
    ["operator", "acme", "admin"],
    ["stranger", "other", "admin"],
  ];
  for (const [caller, tenant, scope] of ways) {
    const made = await engine.forTenant(tenant).createToken({
      scope,
      actor: "ana",
      actAs: "any",
      operator: caller === "operator",
    });
    tokens[caller] = made.token;
  }
  const server = await openServer(engine, { version: "0.0.0", port: 0, requireToken: true });
  const ids = await fill(engine, "acme", MARKER);
  await fill(engine, "other", "ordinary");
  return {
    engine,
    server,
    url: server.url,
    tokens,
    ids,
    headersOf: (caller) => ({
      authorization: `Bearer ${tokens[caller]}`,
      "content-type": "application/json",
    }),
    withServer: async (options, use) => {
      const other = await openServer(engine, { version: "0.0.0", port: 0, ...options });
      try {
        await use(other);
      } finally {
        await other.stop();
      }
    },
    close: async () => {
      await server.stop();
      await engine.close();
    },
  };
}

async function fill(engine: Engine, tenant: string, word: string): Promise<Record<string, string>> {
  const acme = engine.forTenant(tenant);
  const session = await acme.createSession({
    agent: `coder-${word}`,
    createdBy: "ana",
    title: `About ${word}`,
    metadata: { facts: { enabled: true } },
    origin: { key: `origin:${word}`, projectPath: `/srv/${word}` },
  });
  const asked = { role: "user", actor: "ana", content: `Where is ${word}?` } as const;
  const first = await session.append({ ...asked, externalId: "first/1", raw: { word } });
  const answer = await session.append({
    role: "assistant",
    actor: "coder",
    content: `In ${word}.${" As before.".repeat(99)}`,
  });
  await session.append({ role: "user", actor: "ana", content: `Thanks for ${word}.` });
  const last = await session.append({
    role: "assistant",
    actor: "coder",
    content: "You are welcome.",
  });
  await session.label(first.id, `label ${word}`);
  const [fact] = await session.addFacts([
    { subject: word, predicate: "is in", object: "the text" },
  ]);
  const [newer] = await session.addFacts([{ subject: word, predicate: "is in", object: "a book" }]);
  const [third] = await session.addFacts([{ subject: word, predicate: "has", object: "letters" }]);
  await acme.putMemory({ agent: "coder", name: "place", content: `${word} is a word` });
  await acme.records.put({ namespace: "n", key: "doomed", value: word });
  await acme.records.put({ namespace: "n", key: "place", value: word, text: `${word} is a word` });
  const open = await session.openMessage({ role: "assistant", actor: "coder" });
  await open.write(`pending ${word}`);
  await open.detach();
  const gone = await acme.createSession({ agent: "coder", createdBy: "ana" });
  await acme.deleteSession(gone.id);
  const doomed = await acme.createSession({ agent: "coder", createdBy: "ana" });
  const ruled = await doomed.append({ role: "user", content: `Always spell ${word} in full.` });
  const token = await acme.createToken({ scope: "read", actor: "bob" });
  const { share } = await acme.shares.create(session.id);
  const [key, secondKey] = [`agent:main:${tenant}:direct:1`, `agent:main:${tenant}:direct:2`];
  for (const each of [key, secondKey]) {
    await acme.routes.put(each, { sessionId: session.id, fields: { displayName: word } });
  }
  return {
    session: session.id,
    first: first.id,
    answer: answer.id,
    last: last.id,
    gone: gone.id,
    fact: fact?.id ?? "",
    newer: newer?.id ?? "",
    third: third?.id ?? "",
    open: open.id,
    lease: open.lease,
    doomed: doomed.id,
    rule: `${ruled.id}-1`,
    origin: `origin:${word}`,
    token: token.record.id,
    share: share.id,
    key,
    second_key: secondKey,
  };
}
