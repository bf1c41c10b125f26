import { expect, test } from "vitest";
import { below } from "./words.ts";

test("a path below the project's folder is shown relative to it", () => {
  expect(below("/src/shop", "/src/shop/lib/a.ts")).toBe("lib/a.ts");
  expect(below("/src/shop/", "/src/shop/lib/a.ts")).toBe("lib/a.ts");
  expect(below("C:\\shop", "C:\\shop\\a.ts")).toBe("a.ts");
  expect(below("/src/shop", "/src/shopping/a.ts")).toBe("/src/shopping/a.ts");
  expect(below("/src/shop", "/src/shop")).toBe("/src/shop");
  expect(below(undefined, "/src/a.ts")).toBe("/src/a.ts");
});
