import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import { EXAMPLE_SESSIONS } from "./example-sessions.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Stores the examples with times some days before `now`. Gives their ids, in order. */
export async function loadExamples(tenant: TenantApi, now: number): Promise<string[]> {
  const ids: string[] = [];
  for (const example of EXAMPLE_SESSIONS) {
    const { agent, title, projectPath, gitBranch } = example;
    const startedAt = now - example.daysAgo * DAY_MS;
    const session = await tenant.createSession({
      agent,
      title,
      createdBy: "ana",
      startedAt,
      origin: { projectPath, gitBranch },
    });
    const messages = example.messages.map((message, i) => ({
      ...message,
      createdAt: startedAt + i * MINUTE_MS,
    }));
    await session.append(messages);
    ids.push(session.id);
  }
  return ids;
}
