import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import { openServer } from "../../src/server/serve.ts";
import { createDatabase } from "../support/postgres.ts";

/** Depends on timing, so it runs in `npm run stress` only, alone. */

test.each([
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
])(
  "timing of %s does not distinguish another tenant's session from an unknown one",
  async (_, at) => {
    const engine = await open(await at());
    const server = await openServer(engine, { version: "0.0.0", port: 0, requireToken: true });
    onTestFinished(async () => {
      await server.stop();
      await engine.close();
    });
    const { token } = await engine.forTenant("birch").createToken({ scope: "read" });
    const theirs = await engine.forTenant("ash").createSession({ agent: "a", createdBy: "ana" });
    await theirs.append(
      Array.from({ length: 500 }, () => ({ role: "user" as const, content: "x" })),
    );
    const headers = { authorization: `Bearer ${token}` };
    const ask = async (id: string) => {
      const started = performance.now();
      const answer = await fetch(`${server.url}/v1/sessions/${id}/messages`, { headers });
      await answer.text();
      expect(answer.status).toBe(404);
      return performance.now() - started;
    };
    const times = { theirs: [] as number[], nobodys: [] as number[] };
    // In alternation, so that disturbances affect both alike.
    for (let i = 0; i < 300; i++) {
      times.theirs.push(await ask(theirs.id));
      times.nobodys.push(await ask(`01ARZ3NDEKTSV4RRFFQ6${String(i).padStart(6, "0")}`));
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
    const ratio = median(times.theirs) / median(times.nobodys);
    expect(ratio).toBeGreaterThan(0.67);
    expect(ratio).toBeLessThan(1.5);
  },
);
