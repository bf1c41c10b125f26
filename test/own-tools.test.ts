import { expect, test } from "vitest";
import { AGENT_TOOLS } from "../src/mcp/tools/agent-tools.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { isOwnTool, OWN_TOOLS } from "../src/search/document/own-tools.ts";

test("every MCP tool is recognised as ours, with any client's prefix", () => {
  const names = [...TOOLS, ...AGENT_TOOLS].map(({ name }) => name);
  expect(OWN_TOOLS.toSorted()).toEqual(names.toSorted());
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
