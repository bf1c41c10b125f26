import { expect, test } from "vitest";
import { fixture, importText } from "../../test/support/transcripts.ts";
import { open } from "../open.ts";
import { tallySessions } from "./tally.ts";

test("sessions are added up of one repository, however it was cloned", async () => {
  await using engine = await open(":memory:");
  const file = fixture("pi/version-3.jsonl");
  await importText(engine, file, { key: "a", repo: "example.org/team/shop" });
  await importText(engine, file, { key: "b", repo: "example.org/team/shop" });
  await importText(engine, file, { key: "c", repo: "example.org/team/other" });
  expect((await tallySessions(engine, {})).total.sessions).toBe(3);
  expect((await tallySessions(engine, { repo: "example.org/team/shop" })).total.sessions).toBe(2);
  expect((await tallySessions(engine, { repo: "team/other" })).total.sessions).toBe(1);
});
