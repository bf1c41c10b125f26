import { expect, test } from "vitest";
import type { TenantApi } from "../engine/interfaces.ts";
import { open } from "../open.ts";
import { warmUp } from "./maintenance.ts";

/** Records the searches of `tenant`. */
function counting(tenant: TenantApi) {
  const searched: unknown[] = [];
  const searchSessions: TenantApi["searchSessions"] = async (query, input) => {
    const result = await tenant.searchSessions(query, input);
    searched.push(input?.asYouType);
    return result;
  };
  return { searched, searchSessions };
}

test("a server warms the index with one search without an embedder, also of an empty store", async () => {
  await using engine = await open(":memory:");
  const errors: unknown[] = [];
  const options = {
    signal: new AbortController().signal,
    onError: (error: unknown) => errors.push(error),
  };
  const counted = counting(engine);
  await warmUp(counted, options);
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  await session.append({ role: "user", actor: "ana", content: "the first error of this test" });
  await warmUp(counted, options);
  expect([counted.searched, errors]).toEqual([[true, true], []]);
});

test("a server that stops meanwhile reports nothing; another failure is reported", async () => {
  const engine = await open(":memory:");
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  await warmUp(engine, { signal: AbortSignal.abort(), onError });
  const failing = { searchSessions: () => Promise.reject(new Error("no disk")) };
  const { signal } = new AbortController();
  await warmUp(failing, { signal, onError });
  await engine.close();
  await warmUp(engine, { signal, onError });
  expect(errors).toEqual([new Error("no disk")]);
});
