import type { SessionHandle } from "../../src/engine/session-handle.ts";
import type { TenantEngine } from "../../src/engine/tenant-engine.ts";

/** A session in which ana and coder speak in turn. */
export async function talkIn(
  tenant: Pick<TenantEngine, "createSession">,
  said: readonly string[],
): Promise<SessionHandle> {
  const title = said[0]?.slice(0, 40) ?? "";
  const handle = await tenant.createSession({ agent: "coder", createdBy: "ana", title });
  for (const [i, content] of said.entries()) {
    const [role, actor] =
      i % 2 === 0 ? (["user", "ana"] as const) : (["assistant", "coder"] as const);
    await handle.append({ role, actor, content });
  }
  return handle;
}
