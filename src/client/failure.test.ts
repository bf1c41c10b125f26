import { createServer, type RequestListener } from "node:http";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BackscrollError } from "../model/errors.ts";
import { type ServedStore, serveStore } from "./client.cases.ts";
import { connect } from "./connect.ts";

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({}, afterAll);
});

async function answerWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe("a request that the store refuses", () => {
  test("has the library's code, message and details", async () => {
    const { remote, engine } = served;
    const failures = async (of: typeof remote | typeof engine) => {
      const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
      const handle = await of.getSession(session.id);
      const calls = [
        () => of.getSession("nobody"),
        () => handle.getEntry("nothing"),
        () => of.getMemory("coder", "nothing"),
        () => handle.compact(),
        () => of.listSessions({ cursor: "wrong" }),
        () => handle.append({ role: "user", content: "" }),
        () => handle.buildContext({ tokenBudget: 0 }),
        () => of.createSession({ agent: "a", createdBy: "b", id: session.id }),
      ];
      const errors = [];
      for (const call of calls) {
        const error = await Promise.resolve(call()).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const { code, message, details } = error as BackscrollError;
        errors.push({ code, message, details, known: BackscrollError.is(error) });
      }
      return JSON.parse(JSON.stringify(errors).replaceAll(session.id, "SESSION")) as unknown;
    };
    expect(await failures(remote)).toEqual(await failures(engine));
  });

  test("names a field as the library does", async () => {
    const { remote } = served;
    const wrong = remote.listSessions({ projectId: "x".repeat(1_000) });
    await expect(wrong).rejects.toMatchObject({ details: { field: "projectId" } });
  });
});

describe("a caller without access", () => {
  test("is refused when connecting, and the token is in no message", async () => {
    const failed = served.connect({ token: "s3cret-token" });
    await expect(failed).rejects.toMatchObject({ code: "unauthorized" });
    await expect(failed).rejects.not.toThrow(/s3cret/);
    await expect(connect(served.line.url, { token: "a\nb" })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "token" },
    });
  });
});

describe("a caller with a token", () => {
  test("has its tenant and its scope", async () => {
    const { connect, engine } = await serveStore();
    const acme = engine.forTenant("acme");
    const { token } = await acme.createToken({ scope: "read", actor: "ana" });
    const client = await connect({ token });
    expect(client.access).toMatchObject({ tenant: "acme", scope: "read", actor: "ana" });
    await engine.createSession({ agent: "coder", createdBy: "ana" });
    expect((await client.listSessions()).sessions).toEqual([]);
    const refused = [
      () => client.createSession({ agent: "coder", createdBy: "ana" }),
      () => client.status(),
    ];
    for (const call of refused) {
      await expect(call()).rejects.toMatchObject({ code: "forbidden" });
    }
  });
});

describe("an address", () => {
  test.each([
    ["ftp://host", /http:\/\/127\.0\.0\.1:7423/],
    ["not an address", /not an address/],
    ["http://ana:s3cret@host", /must not contain a token/],
    ["http://host?token=s3cret", /must not contain a token/],
    [undefined, /missing/],
  ])("%s is refused without its secrets", async (address, message) => {
    const failed = connect(address as string);
    await expect(failed).rejects.toMatchObject({ code: "invalid_address" });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.not.toThrow(/s3cret/);
  });

  test("may have a path and a trailing slash", async () => {
    const urls: (string | undefined)[] = [];
    const url = await answerWith((request, response) => {
      urls.push(request.url);
      response.end(JSON.stringify({ server: "backscroll", tenant: "default" }));
    });
    await connect(`${url}/memory/`);
    expect(urls).toEqual(["/memory/v1/access"]);
  });

  test("is not contacted if the access is given", async () => {
    const urls: (string | undefined)[] = [];
    const url = await answerWith((request, response) => {
      urls.push(request.url);
      response.end(JSON.stringify({ server: "backscroll", tenant: "acme" }));
    });
    const { access } = await connect(url);
    const again = await connect(url, { access });
    expect(again.tenant).toBe("acme");
    expect(urls).toEqual(["/v1/access"]);
    const wrong = connect(url, { access: { tenant: "acme" } as never });
    await expect(wrong).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "access" },
    });
  });
});

describe("a server that", () => {
  test("does not listen is reported as unreachable", async () => {
    const url = await answerWith((_, response) => response.destroy());
    const failed = connect(url, { retries: 0 });
    await expect(failed).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(failed).rejects.toThrow(
      /^the server at http:\/\/127\.0\.0\.1:\d+ does not answer \(\w+\); is it running/,
    );
    await expect(connect("http://127.0.0.1:9")).rejects.toThrow(/\(bad port\)/);
  });

  test("takes too long times out", async () => {
    const url = await answerWith(() => undefined);
    const failed = connect(url, { retries: 0, timeoutMs: 50 });
    await expect(failed).rejects.toMatchObject({
      code: "store_unavailable",
      details: { timeoutMs: 50 },
    });
  });

  test.each([
    ["answers with a page", (_, response) => response.end("<html></html>")],
    ["answers with other JSON", (_, response) => response.end('{"ok":true}')],
    ["has no such route", (_, response) => response.writeHead(404).end("not found")],
    ["redirects", (_, response) => response.writeHead(302, { location: "/x" }).end()],
  ] satisfies [string, RequestListener][])(
    "%s is not a Backscroll server",
    async (name, listener) => {
      const failed = connect(await answerWith(listener), { retries: 0 });
      // fetch itself refuses a redirect, without a reason.
      const code = name === "redirects" ? "store_unavailable" : "foreign_database";
      await expect(failed).rejects.toMatchObject({ code });
    },
  );

  test("has an internal error: the error names the request", async () => {
    const problem = { code: "internal_error", detail: "something went wrong", details: {} };
    const url = await answerWith((_, response) =>
      response.writeHead(500, { "x-request-id": "r-1" }).end(JSON.stringify(problem)),
    );
    const failed = connect(url);
    await expect(failed).rejects.toThrow(/look for request r-1 in its log/);
    await expect(failed).rejects.not.toMatchObject({ name: "BackscrollError" });
  });
});

describe("a connection that was closed", () => {
  test("refuses further calls", async () => {
    const client = await served.connect();
    await client.close();
    await expect(client.tenantStatus()).rejects.toMatchObject({ code: "store_closed" });
  });

  test("ends its feeds", async () => {
    const client = await served.connect();
    const following = client.subscribe();
    const next = following.next();
    await client.close();
    expect(await next).toMatchObject({ done: true });
  });
});

test("a model call ends on its signal", async () => {
  const url = await answerWith((request, response) => {
    if (request.url === "/v1/access") {
      response.end(JSON.stringify({ server: "backscroll", tenant: "default" }));
    }
  });
  const client = await connect(url);
  const stop = new AbortController();
  const waiting = client.compactConversation("s", { signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({
    code: "model_failed",
    details: { kind: "aborted" },
  });
});
