import { expect, test } from "vitest";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { isOwnTool, OWN_TOOLS } from "../src/search/document/own-tools.ts";

test("every tool that MCP offers is known as our own, whatever a client puts before its name", () => {
  expect(OWN_TOOLS.toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted());
  for (const name of OWN_TOOLS) {
    for (const prefix of [
      "mcp__backscroll__",
      "backscroll.",
      "backscroll_",
      "mcp_my-backscroll_",
    ]) {
      expect([prefix, name, isOwnTool(`${prefix}${name}`)]).toEqual([prefix, name, true]);
    }
  }
  expect(isOwnTool("mcp__memory__search_sessions")).toBe(true);
  expect(["Bash", "recall", "mcp__other__list_sessions"].filter(isOwnTool)).toEqual([]);
});
