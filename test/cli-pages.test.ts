/** What the command line names as the next page is the next page of the same. */

import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../src/index.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

const PROJECTS = ["shop", "bakery"];
const SESSIONS = 8;

let cli: (line: string) => ReturnType<typeof callCli>;

beforeAll(async () => {
  const home = createFolder(afterAll);
  const db = join(home, "store.db");
  await using memory = await open(db);
  for (let i = 0; i < SESSIONS; i++) {
    const origin = { projectPath: `/src/${PROJECTS[i % 2]}` };
    const session = await memory.createSession({ agent: "coder", title: `Cron of ${i}`, origin });
    for (let said = 0; said <= i; said++) {
      await session.append({ role: "user", content: `why does the cron job of ${i} run twice` });
    }
  }
  const env = { HOME: home, BACKSCROLL_DB: db, COLUMNS: "200" };
  cli = (line) => callCli(line.split(" "), { cwd: home, env });
});

test.each(["list --flat --sort size --limit 3", "search cron --project shop --limit 3"])(
  "%s goes on with its own options",
  async (line) => {
    const first = await cli(line);
    const [, more = ""] = /More: .*?\b((?:list|search) .*)$/m.exec(first.stderr) ?? [];
    const next = await cli(more);
    expect([first.code, next.code], next.stderr).toEqual([0, 0]);
    const titles = ({ stdout }: typeof next) => stdout.match(/Cron of \d/g) ?? [];
    const shown = [...titles(first), ...titles(next)];
    expect(new Set(shown).size).toBe(shown.length);
    expect(titles(first)).toHaveLength(3);
    const rest = line.startsWith("list")
      ? ["Cron of 4", "Cron of 3", "Cron of 2"]
      : [expect.stringMatching(/Cron of [0246]/)];
    expect(titles(next)).toEqual(rest);
  },
);

test("a search that began with a cursor goes on with one", async () => {
  const { next_cursor: cursor } = JSON.parse((await cli("search cron --limit 2 --json")).stdout);
  expect((await cli(`search cron --limit 2 --cursor ${cursor}`)).stderr).toMatch(
    /More: .*search cron --cursor \w+ --limit 2$/m,
  );
});

test.each([
  ["search cron --page 0", "--page counts from 1"],
  ["search cron --page 2 --cursor x", "--page and --cursor"],
  ["stats 5f0c2a91 --since 3d", "--since is for all sessions"],
  ["list --keys --agent coder", "--agent does not go with --keys"],
  ["share --days 3", "--days needs a SESSION"],
  ["share 5f0c2a91 --end x", "leave out SESSION"],
])("%s is refused: its option would not be heeded", async (line, why) => {
  const { code, stderr } = await cli(line);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});
