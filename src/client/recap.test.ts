import { expect, test } from "vitest";
import { recapSessions } from "../recap/recap.ts";
import { traceWork } from "../recap/trace.ts";
import { serveStore } from "./client.cases.ts";

test("remote recaps and traces equal the library's on the same store", async () => {
  const { remote } = await serveStore();
  const origin = { source: "codex", projectPath: "/srv/shop" };
  const session = await remote.createSession({ agent: "codex", createdBy: "codex", origin });
  const run = (id: string, name: string, input: object, output: string, isError: boolean) =>
    session.append([
      { role: "assistant", toolCalls: [{ id, name, input: JSON.stringify(input) }] },
      { role: "tool", actor: name, toolResults: [{ id, name, output, isError }] },
    ]);
  await session.append({ role: "user", content: "The walrus job runs twice" });
  await run("1", "Bash", { command: "npm test" }, "Error: walrus is locked", true);
  await run("2", "Edit", { file_path: "/srv/shop/walrus.ts", old_string: "a" }, "ok", false);
  await run("3", "Bash", { command: "npm test" }, "12 tests pass", false);
  await session.append({ role: "assistant", content: "It runs once now." });

  const recap = await remote.recapSessions({ project: "shop", limit: 2 });
  expect(recap).toEqual(await recapSessions(remote, { project: "shop", limit: 2 }));
  expect(recap.sessions[0]?.commands).toMatchObject([{ text: "npm test", times: 2 }]);
  for (const subject of [
    { file: "walrus.ts" },
    { command: "npm test" },
    { error: "walrus is locked", agent: ["codex", "coder"] },
  ]) {
    const trace = await remote.traceWork(subject);
    expect(trace).toEqual(await traceWork(remote, subject));
    expect(trace.sessions).toHaveLength(1);
  }
  await expect(remote.traceWork({})).rejects.toMatchObject({ code: "invalid_input" });
  const wrong = { since: 2, until: 1 };
  await expect(remote.recapSessions(wrong)).rejects.toMatchObject({ details: { field: "since" } });
});
