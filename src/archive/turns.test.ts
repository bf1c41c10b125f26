import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("what is done under one key is done one after another, under two at once", async () => {
  const turns = new Turns();
  const events: string[] = [];
  const work = (name: string) => async () => {
    events.push(`${name} begins`);
    await pause(5);
    events.push(`${name} ends`);
    return name;
  };
  const all = [
    turns.take("a", work("first")),
    turns.take("a", work("second")),
    turns.take("b", work("other")),
  ];
  expect(await Promise.all(all)).toEqual(["first", "second", "other"]);
  expect(events.slice(0, 2)).toEqual(["first begins", "other begins"]);
  expect(events.indexOf("second begins")).toBeGreaterThan(events.indexOf("first ends"));
});

test("one that fails lets the next one go on", async () => {
  const turns = new Turns();
  const failing = turns.take("a", () => Promise.reject(new Error("no")));
  const next = turns.take("a", async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});
