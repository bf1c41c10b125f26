/** What git knows of commits, in real repositories. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readHistory } from "../src/cli/git-history.ts";
import { Repository } from "./support/repository.ts";

test("every commit of a range is read, whatever its files hold and whichever are missing", async () => {
  const shop = new Repository(onTestFinished);
  const lines = Array.from({ length: 900 }, (_, i) => `const value${i} = sumOf(order);`);
  shop.write("src/order.ts", ["export type Order = string;"]);
  const order = shop.commit("Add orders");
  const blob = shop.git("rev-parse", "HEAD:src/order.ts");
  shop.write("src/values.ts", [...lines, "a NUL \0 that git takes for text"]);
  const values = shop.commit("Add values");
  const subjects = async () => {
    const { commits } = await readHistory("HEAD~2..HEAD", { folder: shop.folder, trailers: true });
    return commits.map(({ commit, subject, files }) => {
      return [commit, subject, files.reduce((sum, { added }) => sum + added.length, 0)];
    });
  };
  const found = [values, "Add values", 901] as const;
  expect(await subjects()).toEqual([found, [order, "Add orders", 1]]);
  rmSync(join(shop.folder, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  expect(await subjects()).toEqual([found, [order, "Add orders", 0]]);
});

test("sessions are named by Entire's checkpoints in every place, and by notes of git-ai", async () => {
  const shop = new Repository(onTestFinished);
  const keep = (path: string, sessions: Readonly<Record<string, string>>) => {
    for (const [part, id] of Object.entries(sessions)) {
      mkdirSync(join(shop.folder, path, part), { recursive: true });
      writeFileSync(join(shop.folder, path, part, "metadata.json"), `{"session_id": "${id}"}`);
    }
  };
  shop.git("checkout", "-q", "--orphan", "entire/checkpoints/v1");
  keep("a3/b2c4d5e6f7", { "0": "one", "1": "2026-01-05-two" });
  keep("b4/b2c4d5e6f7", { ".": "three" });
  shop.commit("Checkpoints");
  const ulid = "01KXGTTNGCEACC83QZEJ5YAF0D";
  shop.git("checkout", "-q", "--orphan", "reference");
  shop.git("rm", "-q", "-r", "-f", ".");
  keep(".", { "0": "four" });
  shop.git("update-ref", `refs/entire/checkpoints/0D/${ulid}`, shop.commit("A checkpoint"));
  shop.git("checkout", "-q", "main");
  shop.write("src/tax.ts", ["export const rate = 0.2;"]);
  const squash = shop.commit(
    `Tax\n\n* One\n\nEntire-Checkpoint: a3b2c4d5e6f7\n\n* Two\n\nEntire-Checkpoint: b4b2c4d5e6f7`,
  );
  shop.write("src/cart.ts", ["export const items = [];"]);
  const newer = shop.commit(`Cart\n\nEntire-Checkpoint: ${ulid}\nEntire-Checkpoint: 000000000000`);
  const note = (json: unknown) => `src/tax.ts\n  s_1::t_1 1-4\n---\n${JSON.stringify(json)}`;
  const agents = { s_1: { agent_id: { tool: "claude", id: "five" } }, s_2: {} };
  shop.git("notes", "--ref=ai", "add", "-m", note({ sessions: agents, prompts: null }), newer);
  shop.git("notes", "--ref=ai", "add", "-m", note({ humans: { h_1: { author: "Ana" } } }), squash);
  const named = async (trailers: boolean) =>
    (await readHistory("main~2..main", { folder: join(shop.folder, "src"), trailers })).commits.map(
      (commit) => commit.named,
    );
  expect(await named(true)).toEqual([
    ["four", "five"],
    ["one", "two", "three"],
  ]);
  expect(await named(false)).toEqual([undefined, undefined]);
});
