import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BackscrollError, ERROR_CODES } from "./errors.ts";

test("an error says in JSON what it is, whether to try again, and where it is explained", () => {
  const busy = new BackscrollError("store_busy", "too much waits", {
    details: { retryAfterMs: 5 },
  });
  expect(JSON.parse(JSON.stringify({ busy }))).toEqual({
    busy: {
      name: "BackscrollError",
      code: "store_busy",
      message: "too much waits",
      retryable: true,
      details: { retryAfterMs: 5 },
      documentation: "docs/errors.md#store_busy",
    },
  });
  expect(new BackscrollError("session_not_found", "none").retryable).toBe(false);
});

test("each code is explained at the place that its errors name", () => {
  const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  for (const code of ERROR_CODES) {
    const { documentation } = new BackscrollError(code, "x");
    expect(page).toContain(`<a id="${documentation.split("#")[1]}"></a>`);
  }
});
