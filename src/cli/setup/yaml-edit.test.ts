import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-file.ts";
import { getYaml, removeYaml, setYaml } from "./yaml-edit.ts";

const PATH = ["mcpServers", "backscroll"];
const FIELDS = { command: "backscroll", args: ["mcp", "--db", 'C:\\a "b"'] };
const OURS = `  - name: backscroll
    command: "backscroll"
    args: ["mcp","--db","C:\\\\a \\"b\\""]
`;

const FILE = `# mine
name: Main
models:
  - name: backscroll # no server
    provider: openai
mcpServers: # what I use
  # the first
  - name: other
    command: o
    args:
      - -y

  # the second
  - {name: third, command: t}
# prompts
prompts: []
`;

test("an entry is appended to the list, read, and removed again", () => {
  const added = setYaml(FILE, PATH, FIELDS);
  expect(added).toBe(FILE.replace("# prompts", `${OURS}# prompts`));
  expect(getYaml(added, PATH)).toEqual(FIELDS);
  expect(getYaml(added, ["mcpServers", "other"])).toEqual({ command: "o", args: ["-y"] });
  expect(getYaml(FILE, PATH)).toBeUndefined();
  expect(setYaml(added, PATH, FIELDS)).toBe(added);
  expect(removeYaml(added, PATH)).toBe(FILE);
});

test("a list is made where there is none, and goes with its last entry", () => {
  for (const [before, after] of [
    ["name: a", `name: a\nmcpServers:\n${OURS}`],
    ["---\nname: a\n", `---\nname: a\nmcpServers:\n${OURS}`],
    ["mcpServers: [] # none\nname: a\n", `mcpServers: # none\n${OURS}name: a\n`],
    ["mcpServers:\nname: a\n", `mcpServers:\n${OURS}name: a\n`],
    ["", `mcpServers:\n${OURS}`],
  ] as const) {
    expect(setYaml(before, PATH, FIELDS)).toBe(after);
    expect(removeYaml(after, PATH)).not.toContain("mcpServers");
  }
});

test("fields of an entry are replaced in place, and its others stay", () => {
  const text = `mcpServers:
- name: "backscroll"
  command: 'old'
  connectionTimeout: 9 # slow
  env:
    A: x
- name: z
`;
  const edited = setYaml(text, PATH, FIELDS);
  expect(edited).toContain("  connectionTimeout: 9 # slow\n  env:\n    A: x\n- name: z\n");
  expect(getYaml(text, PATH)).toEqual({ command: "old", connectionTimeout: "9", env: { A: "x" } });
  expect(getYaml(edited, PATH)).toMatchObject(FIELDS);
  expect(removeYaml(edited, PATH)).toBe("mcpServers:\n- name: z\n");
});

test("an entry in braces is known by its name, and replaced as a whole", () => {
  const text = "mcpServers:\r\n    - { name: backscroll, url: https://x }\r\n";
  expect(getYaml(text, PATH)).toEqual({});
  expect(setYaml(text, PATH, { command: "x" })).toBe(
    'mcpServers:\r\n    - name: backscroll\r\n      command: "x"\r\n',
  );
});

describe("another notation is refused with its line", () => {
  test.each([
    ["name: a\nmcpServers: [{name: x}]\n", 2],
    ["mcpServers:\n  a:\n    command: x\n", 1],
    ["mcpServers:\nname: x\nmcpServers:\n", 3],
    ['{"name": "a"}\n', 1],
    ["a: 1\n---\nb: 1\n", 2],
  ])("%j", (text, line) => {
    try {
      setYaml(text, PATH, FIELDS);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).line).toBe(line);
    }
  });
});
