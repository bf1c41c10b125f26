import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { TenantApi } from "../engine/interfaces.ts";
import type { SessionHandle } from "../engine/session-handle.ts";
import { BackscrollError } from "../model/errors.ts";
import { open } from "../open.ts";
import { SessionFeed } from "./session-feed.ts";

let tenant: TenantApi;
let session: SessionHandle;

beforeEach(async () => {
  const engine = await open(":memory:", { inThread: true });
  onTestFinished(() => engine.close());
  tenant = engine;
  session = await engine.createSession({ id: "s", agent: "coder", createdBy: "ana" });
});

/** The tenant, whose subscriptions fail while `doesFail` says so. */
function failing(
  error: Error,
  doesFail: (after: string | undefined) => Promise<boolean>,
): TenantApi {
  const subscribe: TenantApi["subscribe"] = async function* (input = {}) {
    if (await doesFail(input.after)) throw error;
    yield* tenant.subscribe(input);
  };
  return new Proxy(tenant, {
    get: (target, name) => {
      const value: unknown = name === "subscribe" ? subscribe : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function listen(feed: SessionFeed): string[] {
  const told: string[] = [];
  const stop = feed.subscribe((event) => {
    told.push(event.kind === "resource_updated" ? event.uri : event.kind);
  });
  onTestFinished(stop);
  return told;
}

test("a change during a failure of the store is announced afterwards", async () => {
  const errors: unknown[] = [];
  const failure = new BackscrollError("store_unavailable", "away", { details: {} });
  const failsOnce = async () => {
    if (errors.length > 0) return false;
    await session.append({ role: "user", content: "meanwhile" });
    return true;
  };
  const feed = new SessionFeed(failing(failure, failsOnce), (error) => errors.push(error));
  const told = listen(feed);
  await expect.poll(() => told).toContain("session://s");
  expect(errors).toEqual([failure]);
});

test("after a restored store, the feed is followed from its new end", async () => {
  const errors: unknown[] = [];
  const failure = new BackscrollError("cursor_expired", "another epoch", { details: {} });
  const cursors: (string | undefined)[] = [];
  const isFirst = async (after: string | undefined) => {
    if (cursors.push(after) > 1) return false;
    await session.append({ role: "user", content: "before the new end" });
    return true;
  };
  const feed = new SessionFeed(failing(failure, isFirst), (error) => errors.push(error));
  const told = listen(feed);
  await expect.poll(() => cursors).toHaveLength(2);
  expect(cursors[1]).not.toBe(cursors[0]);
  await session.append({ role: "user", content: "after" });
  await expect.poll(() => told).toContain("session://s");
  expect(errors).toEqual([failure]);
});
