import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { normalizeRemote } from "../machine-paths.ts";
import { GitLookup, parseRemote } from "./git.ts";

const CONFIG = `[core]
\tbare = false
[remote "fork"]
\turl = https://example.org/me/shop.git
[remote "origin"]
\tfetch = +refs/heads/*:refs/remotes/origin/*
\turl = git@example.org:team/shop.git
`;

/** A checkout and a worktree of it, as git lays them out. */
function repository() {
  const folder = createFolder();
  const main = join(folder, "shop");
  const tree = join(folder, "shop-fix");
  mkdirSync(join(main, ".git/worktrees/fix"), { recursive: true });
  mkdirSync(join(main, "src/deep"), { recursive: true });
  mkdirSync(tree);
  writeFileSync(join(main, ".git/config"), CONFIG);
  writeFileSync(join(main, ".git/worktrees/fix/commondir"), "../..\n");
  writeFileSync(join(tree, ".git"), `gitdir: ${join(main, ".git/worktrees/fix")}\n`);
  return { folder, main, tree };
}

test("a folder in a checkout has its remote and its root", async () => {
  const { main } = repository();
  expect(await new GitLookup().find(join(main, "src/deep"))).toEqual({
    remote: "example.org/team/shop",
    worktree: main,
  });
});

test("a worktree has its repository's remote, and its own root", async () => {
  const { tree } = repository();
  expect(await new GitLookup().find(tree)).toEqual({
    remote: "example.org/team/shop",
    worktree: tree,
  });
});

test("a folder without a repository, or not on this machine, has none", async () => {
  const { folder } = repository();
  const lookup = new GitLookup();
  expect(await lookup.find(join(folder, "gone/away"))).toBeUndefined();
  expect(await lookup.find("relative/path")).toBeUndefined();
  expect(await lookup.find("/nul\0byte")).toBeUndefined();
});

test("a folder is read once", async () => {
  const { main } = repository();
  const lookup = new GitLookup();
  const first = await lookup.find(main);
  rmSync(join(main, ".git"), { recursive: true });
  expect(await lookup.find(main)).toBe(first);
});

test("a dangling .git is a checkout without a remote", async () => {
  const folder = createFolder();
  writeFileSync(join(folder, ".git"), "gitdir: /nowhere/at/all\n");
  expect(await new GitLookup().find(folder)).toEqual({ remote: null, worktree: folder });
});

test.each([
  ["git@example.org:team/shop.git", "example.org/team/shop"],
  ["https://user:secret@Example.org/team/shop.git", "example.org/team/shop"],
  ["ssh://git@example.org:2222/team/shop/", "example.org/team/shop"],
  ["https://example.org/team/shop", "example.org/team/shop"],
  ["/srv/git/shop.git", "/srv/git/shop"],
])("%s is %s, without a user or a password", (url, expected) => {
  expect(normalizeRemote(url)).toBe(expected);
});

test("without an origin the first remote counts, and without any there is none", () => {
  expect(parseRemote(CONFIG.replaceAll("origin", "other"))).toBe("example.org/me/shop");
  expect(parseRemote("[core]\n\turl = no remote at all\n")).toBeNull();
});
