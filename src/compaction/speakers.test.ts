import { expect, test } from "vitest";
import { open } from "../open.ts";

const FILLER = "It is long. ".repeat(200);

test("a summary of several agents says who spoke, that of one does not", async () => {
  const engine = await open(":memory:");
  const summarize = async (agents: readonly string[]) => {
    const session = await engine.createSession();
    for (let turn = 0; turn < 12; turn++) {
      const actor = agents[turn % agents.length] ?? "";
      await session.append({ role: "user", actor: "ana", content: `Question ${turn}?` });
      await session.append({
        role: "assistant",
        actor,
        content: `Answer ${turn} of mine. ${FILLER}`,
      });
    }
    const { entry } = await session.compact({ keep: { messages: 2 } });
    return JSON.stringify(entry?.blocks);
  };
  const several = await summarize(["coder", "reviewer"]);
  expect(several).toContain("- assistant coder: Answer 0 of mine. It");
  expect(several).toContain("- assistant reviewer: Answer 1 of mine. It");
  expect(several).toContain("- user: Question 0?");
  expect(await summarize(["coder"])).toContain("- assistant: Answer 0 of mine. It");
  await engine.close();
});
