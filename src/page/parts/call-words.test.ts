import { expect, test } from "vitest";
import { below, mainArgument } from "./words.ts";

test("a call is described by its command, path or query, also where its JSON is cut off", () => {
  expect(mainArgument('{"replace_all":false,"file_path":"/src/a.ts","old_string":"x')).toBe(
    "/src/a.ts",
  );
  expect(mainArgument('{"description":"List files","command":"ls \\"a\\" b"}')).toBe(
    'ls \\"a\\" b',
  );
  expect(mainArgument('{"query":"how does it')).toBe("how does it");
  expect(mainArgument('{"limit":60}')).toBeUndefined();
});

test("a path below the project's folder is shown relative to it", () => {
  expect(below("/src/shop", "/src/shop/lib/a.ts")).toBe("lib/a.ts");
  expect(below("/src/shop/", "/src/shop/lib/a.ts")).toBe("lib/a.ts");
  expect(below("C:\\shop", "C:\\shop\\a.ts")).toBe("a.ts");
  expect(below("/src/shop", "/src/shopping/a.ts")).toBe("/src/shopping/a.ts");
  expect(below("/src/shop", "/src/shop")).toBe("/src/shop");
  expect(below(undefined, "/src/a.ts")).toBe("/src/a.ts");
});
