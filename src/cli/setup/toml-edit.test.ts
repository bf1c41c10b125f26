import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-file.ts";
import { getToml, removeToml, setToml } from "./toml-edit.ts";

const PATH = ["mcp_servers", "backscroll"];
const FIELDS = { command: "backscroll", args: ["mcp", "--db", 'C:\\a "b"'] };

const FILE = `# mine
model = "gpt-5" # best
notify = ["a", # one
  'b',
]
when = 2026-01-02T03:04:05Z
long = """
[not.a.table]
"""
[[profiles]]
name = "x"
deep = { a.b = 1, c = [true, 0x1F] }

[mcp_servers."other one"]
command = "o"
`;

test("a table is appended, read, and removed again", () => {
  const added = setToml(FILE, PATH, FIELDS);
  expect(added).toBe(
    `${FILE}\n[mcp_servers.backscroll]\ncommand = "backscroll"\nargs = ["mcp", "--db", "C:\\\\a \\"b\\""]\n`,
  );
  expect(getToml(added, PATH)).toEqual(FIELDS);
  expect(getToml(added, ["mcp_servers", "other one"])).toEqual({ command: "o" });
  expect(removeToml(added, PATH)).toBe(FILE);
  expect(setToml("", PATH, { command: "x" })).toBe('[mcp_servers.backscroll]\ncommand = "x"\n');
});

test("fields of an existing table are replaced in place", () => {
  const text = `${FILE}
[mcp_servers.backscroll] # ours
command = "old" # why
startup_timeout_sec = 20

[mcp_servers.backscroll.env]
A = "1"

[tui]
x = 1
`;
  const edited = setToml(text, PATH, FIELDS);
  expect(edited).toContain('command = "backscroll" # why\nstartup_timeout_sec = 20\n');
  expect(getToml(edited, PATH)).toEqual({ ...FIELDS, startup_timeout_sec: 20, env: { A: "1" } });
  expect(removeToml(edited, PATH)).toBe(`${FILE}\n[tui]\nx = 1\n`);
});

test("an entry in another notation is read, and not edited", () => {
  for (const text of [
    'mcp_servers.backscroll.command = "x"\n',
    'a = 1\nmcp_servers = { backscroll = { command = "x" } }\n',
    '[mcp_servers]\nbackscroll = { command = "x" }\n',
  ]) {
    expect(getToml(text, PATH)).toEqual({ command: "x" });
    expect(() => setToml(text, PATH, FIELDS)).toThrow("is not a table of its own here");
  }
});

describe("a syntax error has its position", () => {
  test.each([
    ["a = 1\nb = x\n", 2],
    ['a = "x\n', 1],
    ["a = 1\n\n[b\nc = 1\n", 3],
    ["a = [1,\n 2\nb = 1\n", 3],
    ["a\n", 1],
    ["a = 1 2\n", 1],
    ['a = """\nx\n', 1],
  ])("%j", (text, line) => {
    try {
      setToml(text, PATH, FIELDS);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).line).toBe(line);
    }
  });
});
