import { expect, test } from "vitest";
import type { TenantApi } from "../engine/interfaces.ts";
import { open } from "../index.ts";
import { READ_ACCESS } from "./access.cases.ts";
import { recall } from "./tools/memory.ts";
import { searchSessions } from "./tools/search-sessions.ts";
import { trace } from "./tools/trace.ts";
import { related } from "./tools/work.ts";

/** Deletes the session `id` when its fields are read. */
function deletingLate(tenant: TenantApi, id: string): TenantApi {
  return new Proxy(tenant, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "getSessionMeta") return value.bind(target);
      return async (asked: string) => {
        if (asked === id && (await target.listSessions()).sessions.some((each) => each.id === id)) {
          await target.deleteSession(id);
        }
        return target.getSessionMeta(asked);
      };
    },
  });
}

test.each([
  ["search_sessions", searchSessions, () => ({ query: "wombat" })],
  ["trace", trace, () => ({ error: "wombat that" })],
  ["related", related, () => ({ question: "which wombat digs?" })],
  ["recall", recall, (own: string) => ({ session_id: own, query: "wombat", scope: "tenant" })],
] as const)("%s leaves out a session that is deleted while it answers", async (_, tool, input) => {
  await using engine = await open(":memory:", { inThread: true });
  const say = async (content: string) => {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content });
    return session.id;
  };
  const own = await say("the wombat that stays digs");
  const gone = await say("the wombat that goes digs");
  const tenant = deletingLate(engine, gone);
  const { content, isError } = await tool.call(
    { tenant, access: READ_ACCESS, version: "0" },
    input(own),
  );
  expect(isError).not.toBe(true);
  const text = JSON.stringify(content);
  expect(text).toContain("stays");
  expect(text).not.toContain("goes");
});
