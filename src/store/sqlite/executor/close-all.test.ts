import { expect, test } from "vitest";
import { closeAll } from "./executor.ts";

test("resources after a failed one are closed too, and the first failure is thrown", async () => {
  const closed: string[] = [];
  const close = (name: string, fails: boolean) => async () => {
    closed.push(name);
    if (fails) throw new Error(`${name} failed`);
  };
  const closing = closeAll(close("a", false), close("b", true), close("c", true), () => {
    closed.push("d");
  });
  await expect(closing).rejects.toThrow("b failed");
  expect(closed).toEqual(["a", "b", "c", "d"]);
});
