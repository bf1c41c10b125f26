import { expect, test } from "vitest";
import { open } from "../open.ts";
import { retitleSessions } from "./retitle.ts";

test("regenerates derived titles and leaves titles that were set", async () => {
  await using engine = await open(":memory:");
  const add = async (id: string, title: string, metadata: Record<string, string>) => {
    const session = await engine.createSession({ id, agent: "a", createdBy: "a", title, metadata });
    const text = "Implement the following plan:\n\n# Sort invoices by date";
    await session.append({ role: "user", actor: "ana", content: text });
  };
  await add("made", "Implement the following plan:", { titleFrom: "request", kept: "yes" });
  await add("none", "", {});
  await add("own", "Implement the following plan:", {});
  await add("given", "Orders by date", { titleFrom: "source" });

  const told: string[] = [];
  const onTitle = (change: { readonly title: string }) => told.push(change.title);
  expect(await retitleSessions(engine, { dryRun: true, onTitle })).toEqual({
    looked: 2,
    changed: 2,
  });
  expect(told).toEqual(["Sort invoices by date", "Sort invoices by date"]);
  expect((await engine.getSessionMeta("made")).title).toBe("Implement the following plan:");

  await retitleSessions(engine);
  const titles = await Promise.all(
    ["made", "none", "own", "given"].map(async (id) => (await engine.getSessionMeta(id)).title),
  );
  expect(titles).toEqual([
    "Sort invoices by date",
    "Sort invoices by date",
    "Implement the following plan:",
    "Orders by date",
  ]);
  const { metadata } = await engine.getSessionMeta("made");
  expect(metadata).toEqual({ titleFrom: "request", kept: "yes" });
  expect(await retitleSessions(engine)).toEqual({ looked: 2, changed: 0 });
});
