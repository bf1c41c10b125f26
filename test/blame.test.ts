/** Which conversation wrote it: in a real repository, by real git, on both databases and a server. */

import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readHistory } from "../src/cli/git-history.ts";
import type { EngineApi } from "../src/engine/interfaces.ts";
import type { CreateSessionInput } from "../src/engine/session-input.ts";
import { open } from "../src/index.ts";
import type { McpHost } from "../src/mcp/host.ts";
import { trace } from "../src/mcp/tools/trace.ts";
import { blameWork, digestWork } from "../src/work.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { Repository } from "./support/repository.ts";
import { WORLDS, type World } from "./support/worlds.ts";

const MINUTE = 60_000;

const TAX = [
  "export function taxOf(order: Order): number {",
  "  const rate = rateOfCountry(order.country);",
  "  return order.lines.reduce((sum, line) => sum + line.net * rate, 0);",
  "}",
];
const TAX_BY_LINE =
  "  return order.lines.map((line) => roundCents(line.net * rate)).reduce(add, 0);";
const CART = ["export function totalOf(cart: Cart): number {", "  return cart.items.length;", "}"];

/** A session that writes files: its requests, and for each the file and the text. */
async function talk(
  engine: EngineApi,
  repository: Repository,
  title: string,
  turns: readonly { asked: string; because?: string; path: string; old?: string; text: string }[],
  fields: Partial<CreateSessionInput> = {},
): Promise<string> {
  const session = await engine.createSession({
    agent: "claude-code",
    createdBy: "ana",
    title,
    ...fields,
  });
  for (const [i, { asked, because, path, old, text }] of turns.entries()) {
    repository.now += MINUTE;
    const input =
      old === undefined
        ? { file_path: `/home/ana/shop/${path}`, content: text }
        : { file_path: `/home/ana/shop/${path}`, old_string: old, new_string: text };
    const id = `t${i}`;
    const call = {
      type: "tool_use",
      id,
      name: old === undefined ? "Write" : "Edit",
      input,
    } as const;
    const ran = {
      type: "tool_use",
      id: `r${i}`,
      name: "Bash",
      input: { command: "npm test" },
    } as const;
    const result = { type: "tool_result", output: "quoted nowhere", isError: false } as const;
    const at = { createdAt: repository.now };
    await session.append([
      { role: "user", actor: "ana", content: asked, ...at },
      { role: "assistant", actor: "claude", content: because ?? "I see.", ...at },
      { role: "assistant", actor: "claude", content: [call], ...at },
      { role: "user", actor: "claude", content: [{ ...result, toolUseId: id }], ...at },
      { role: "assistant", actor: "claude", content: [ran], ...at },
      { role: "user", actor: "claude", content: [{ ...result, toolUseId: `r${i}` }], ...at },
    ]);
  }
  return session.id;
}

describe.each(WORLDS)("blame on %s", (_, openWorld) => {
  let world: World;
  let shop: Repository;
  let tax: string;
  let cart: string;
  let commits: Record<"tax" | "cart" | "person", string>;

  const ask = async (subject: string, trailers = true) => {
    const { commits: found, file } = await readHistory(subject, { folder: shop.folder, trailers });
    return (await blameWork(world.engine, { commits: found, ...file })).answers;
  };
  const told = async (subject: string) =>
    (await ask(subject)).map(({ sessions }) =>
      sessions.map(({ id, sure }) => `${nameOf(id)} ${sure}`),
    );
  const nameOf = (id: string) => (id === tax ? "tax" : id === cart ? "cart" : id);

  beforeAll(async () => {
    world = await openWorld();
    shop = new Repository(afterAll);
    tax = await talk(world.engine, shop, "Tax", [
      {
        asked: "Compute the tax of an order by its country.",
        because: "rateOfCountry knows the rate, because countries differ.",
        path: "src/tax.ts",
        text: TAX.join("\n"),
      },
    ]);
    shop.write("src/tax.ts", TAX);
    const first = shop.commit("Compute the tax");
    shop.write("src/notes.ts", ["export const written = 'by a person alone, at night';"]);
    const person = shop.commit("Keep a note");
    cart = await talk(world.engine, shop, "Cart", [
      {
        asked: "Count the items of a cart for the badge.",
        path: "src/cart.ts",
        text: CART.join("\n"),
      },
      { asked: "yes", path: "src/tax.ts", old: TAX[2] ?? "", text: TAX_BY_LINE },
    ]);
    shop.write("src/cart.ts", CART);
    shop.write("src/tax.ts", TAX.with(2, TAX_BY_LINE));
    commits = { tax: first, person, cart: shop.commit("Count items, round each line") };
  });
  afterAll(() => world.close());

  test("a commit names the session, the request, the reason, the edit and the tests", async () => {
    const [answer] = await ask(commits.tax);
    expect(answer).toMatchObject({ commit: commits.tax, subject: "Compute the tax", lines: null });
    expect(answer?.sessions).toMatchObject([
      {
        id: tax,
        sure: "yes",
        share: 1,
        asked: { index: 0, text: "Compute the tax of an order by its country." },
        because: { index: 1, text: "rateOfCountry knows the rate, because countries differ." },
        edit: { index: 2, tool: "Write", lines: 3, total: 3 },
        tests: { index: 5, command: "npm test", passed: true },
        reasons: ["it wrote 3 of 3 lines"],
      },
    ]);
  });

  test("a person's own commit, before, between or after, is nobody's", async () => {
    expect(await told(commits.person)).toEqual([[]]);
    expect(await told("HEAD~3")).toEqual([[]]);
  });

  test("lines of two sessions in one file are told apart, and a range is in its order", async () => {
    const lines = await ask("src/tax.ts");
    expect(
      lines.map(({ lines: run, sessions }) => [run, sessions.map(({ id }) => nameOf(id))]),
    ).toEqual([
      [{ path: "src/tax.ts", first: 1, last: 2 }, ["tax"]],
      [{ path: "src/tax.ts", first: 3, last: 3 }, ["cart"]],
      [{ path: "src/tax.ts", first: 4, last: 4 }, ["tax"]],
    ]);
    expect(lines[1]?.sessions[0]?.asked?.text).toContain("Count the items of a cart");
    expect(await told(`${commits.tax}..main`)).toEqual([["cart yes"], []]);
  });

  test("it survives formatting, a new name, a rebase, a squash and a revert", async () => {
    shop.git("checkout", "-q", "-b", "work", commits.tax);
    shop.write(
      "src/tax.ts",
      TAX.map((line) => line.replace("  ", "\t")),
    );
    shop.commit("Format");
    expect(new Set((await told("src/tax.ts")).flat())).toEqual(new Set(["tax yes"]));
    renameSync(join(shop.folder, "src/tax.ts"), join(shop.folder, "src/vat.ts"));
    const renamed = shop.commit("Rename");
    expect(await told(renamed)).toEqual([[]]);
    expect(new Set((await told("src/vat.ts")).flat())).toEqual(new Set(["tax yes"]));

    shop.git("checkout", "-q", "-b", "other", "HEAD~3");
    shop.write("src/later.ts", ["export const another = 'commit below the rebased ones';"]);
    shop.commit("Another");
    shop.git("cherry-pick", commits.tax, commits.cart);
    expect(await told("other~2..other")).toEqual([["cart yes"], ["tax yes"]]);

    shop.git("checkout", "-q", "-b", "squashed", "main~3");
    shop.git("merge", "--squash", "-q", "main");
    const squashed = shop.commit("All at once");
    expect((await told(squashed)).flat().sort()).toEqual(["cart yes", "tax yes"]);

    shop.git("checkout", "-q", "main");
    shop.git("revert", "--no-edit", commits.cart);
    const [reverted = []] = await told("HEAD");
    expect(reverted.filter((each) => each.endsWith("yes"))).toEqual([]);
    expect(await told("src/tax.ts")).toEqual([["tax yes"], ["tax maybe"], ["tax yes"]]);
    shop.git("reset", "-q", "--hard", "HEAD~1");
  });

  test("lines that are not committed yet have a session, too", async () => {
    shop.write("src/cart.ts", [...CART, "export const badge = (cart: Cart) => totalOf(cart);"]);
    onTestFinished(() => void shop.git("checkout", "-q", "."));
    const answers = await ask("src/cart.ts");
    expect(answers.map(({ commit, sessions }) => [commit, sessions.length])).toEqual([
      [commits.cart, 1],
      [null, 0],
    ]);
  });

  test("trailers name a session, unless they are left out", async () => {
    shop.git("checkout", "-q", "-b", "trailers", commits.person);
    shop.write("src/rest.ts", ["export const rest = 'of which no tool call is stored';"]);
    const commit = shop.commit(`Keep the rest\n\nEntire-Session: 2026-01-05-${cart}`);
    const [named] = await ask(commit);
    expect(named?.sessions).toMatchObject([{ id: cart, reasons: ["the commit names it"] }]);
    expect((await ask(commit, false))[0]?.sessions).toEqual([]);
    const note = JSON.stringify({ prompts: { a: { agent_id: { tool: "claude", id: tax } } } });
    const odd = [cart.slice(0, -2), `${"x".repeat(3_000)}`, "twice-used-id"];
    for (const workstation of ["w1", "w2"]) {
      const key = `${workstation}:shop:twice-used-id`;
      await world.engine.createSession({ origin: { workstation, projectId: "shop", key } });
    }
    shop.write("src/rest.ts", ["export const rest = 'and of this none is stored';"]);
    const trailers = odd.map((id) => `Entire-Session: ${id}`).join("\n");
    const wrong = shop.commit(`Keep more\n\n${trailers}`);
    expect((await ask(wrong))[0]?.sessions, "no beginning, and no id of two").toEqual([]);
    shop.git("notes", "--ref=ai", "add", "-m", `src/rest.ts\n  a 1\n---\n${note}`, commit);
    expect((await ask(commit))[0]?.sessions.map(({ id }) => id).sort()).toEqual([cart, tax].sort());
    shop.git("checkout", "-q", "main");
  });

  test("what a sub-agent wrote is of the session that started it", async () => {
    const { engine } = world;
    const key = "claude:started";
    const parent = await engine.createSession({ agent: "a", createdBy: "ana", origin: { key } });
    const sub = await talk(
      engine,
      shop,
      "Sub",
      [
        {
          asked: "Write the farewell.",
          path: "src/bye.ts",
          text: "const farewell = 'see you soon';",
        },
      ],
      { origin: { key: `${key}/1` }, metadata: { parent: { key } } },
    );
    shop.write("src/bye.ts", ["const farewell = 'see you soon';"]);
    const [answer] = await ask(shop.commit("Say goodbye"));
    expect(answer?.sessions).toMatchObject([
      { id: parent.id, asked: { text: "Write the farewell." }, edit: { tool: "Write" } },
    ]);
    const { shortId } = await engine.getSessionMeta(sub);
    expect(answer?.sessions[0]?.reasons.at(-1)).toContain(shortId);
  });

  test("a deleted session is named no more", async () => {
    const gone = await talk(world.engine, shop, "Gone", [
      {
        asked: "Write the greeting.",
        path: "src/hi.ts",
        text: "export const greeting = 'welcome back';",
      },
    ]);
    shop.write("src/hi.ts", ["export const greeting = 'welcome back';"]);
    const commit = shop.commit("Greet");
    expect(await told(commit)).toEqual([[`${gone} maybe`]]);
    await world.engine.session(gone).delete();
    expect(await told(commit)).toEqual([[]]);
  });

  test("a branch of many lines is answered, over the network in parts", async () => {
    const place = { folder: shop.folder, trailers: false };
    const { commits: found } = await readHistory(commits.tax, place);
    const at = { authoredAt: shop.now, committedAt: shop.now };
    const added = Array.from({ length: 20_001 }, (_, i) => `const generated${i} = ${i};`);
    const files = [{ path: "src/generated.ts", added, removed: [] }];
    const large = { commit: "0123456789abcdef", subject: "Generate it all", files, ...at };
    const { answers } = await blameWork(world.engine, { commits: [large, ...found] });
    expect(answers.map(({ sessions }) => sessions.map(({ id }) => id))).toEqual([[], [tax]]);

    const [{ files: own = [], ...commit } = large] = found;
    const generated = Array.from({ length: 6 }, (_, i) => ({ ...files[0], path: `src/g${i}.ts` }));
    const both = { ...commit, files: [...generated, ...own] as typeof files };
    const digest = await digestWork(world.engine, { commits: [both, large] });
    expect(digest.markdown).toContain("src/tax.ts +4");
    expect(digest.conversations).toBe(1);
    const lines = own.flatMap(({ path, added }) =>
      added.map((text, i) => ({ commit: commit.commit, path, number: i + 1, text })),
    );
    const file = { path: "src/tax.ts", lines };
    const told = await blameWork(world.engine, { commits: [large, both], ...file });
    expect(told.answers.map((answer) => [answer.lines?.first, answer.sessions[0]?.id])).toEqual([
      [1, tax],
    ]);
  });

  test("a branch is digested for a reviewer", async () => {
    const place = { folder: shop.folder, trailers: false };
    const { commits: found } = await readHistory(`${commits.tax}~1..${commits.cart}`, place);
    let [reading, most] = [0, 0];
    const { listMessages } = world.engine;
    const reads = vi.spyOn(world.engine, "listMessages").mockImplementation(async (...given) => {
      most = Math.max(most, ++reading);
      try {
        return await listMessages.apply(world.engine, given);
      } finally {
        reading--;
      }
    });
    const digest = await digestWork(world.engine, { commits: found });
    reads.mockRestore();
    expect(most, "conversations that are read at a time").toBeLessThan(2);
    const asked = digest.markdown.split("\n").filter((line) => line.startsWith('- "'));
    expect(asked.map((line) => line.split('"')[1])).toEqual([
      expect.stringContaining("Count the items of a cart for the badge."),
      "Compute the tax of an order by its country.",
      "rateOfCountry knows the rate, because countries differ.",
    ]);
    expect(digest).toMatchObject({ conversations: 2, incomplete: false });
  });

  test("what is no file, commit or range is refused", async () => {
    await expect(ask("no-such-thing")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(ask("--output=x")).rejects.toMatchObject({ code: "invalid_input" });
  });
});

test("a failed test is cured where it passes as a part of another command", async () => {
  const shop = new Repository(onTestFinished);
  await using engine = await open(":memory:", { inThread: true });
  const session = await engine.createSession({ agent: "claude-code" });
  const at = { createdAt: shop.now };
  const does = (id: string, name: string, input: object, isError = false) =>
    session.append([
      { role: "assistant", content: [{ type: "tool_use", id, name, input }], ...at },
      {
        role: "user",
        content: [{ type: "tool_result", toolUseId: id, output: "", isError }],
        ...at,
      },
    ]);
  await session.append({ role: "user", content: "Compute the tax of an order.", ...at });
  await does("w", "Write", { file_path: "/srv/src/tax.ts", content: TAX.join("\n") });
  await does("f", "Bash", { command: "npm test" }, true);
  await does("p", "Bash", { command: "npm run build && npm test" });
  shop.write("src/tax.ts", TAX);
  const place = { folder: shop.folder, trailers: false };
  const { commits } = await readHistory(shop.commit("Compute the tax"), place);
  const { answers } = await blameWork(engine, { commits });
  const tests = { index: 6, command: "npm run build && npm test", passed: true };
  expect(answers[0]?.sessions).toMatchObject([{ tests }]);
  const { markdown } = await digestWork(engine, { commits });
  expect(markdown).toMatch(/^- `npm test` failed \(\w+#3\), passed at #5$/m);
  expect(markdown.match(/passed last/g)).toHaveLength(1);
});

test("wrong arguments of trace get one error with the field, the limit and the way out", async () => {
  const shop = new Repository(onTestFinished);
  shop.write("src/tax.ts", TAX);
  shop.commit("Compute the tax");
  shop.write("src/new.ts", CART);
  const engine = await open(":memory:", { inThread: true });
  onTestFinished(() => engine.close());
  const history = async (subject: string) => {
    const found = await readHistory(subject, { folder: shop.folder, trailers: true });
    return { commits: found.commits, ...found.file };
  };
  const access = { tenant: "default", scope: "read", actor: null, actAs: [] } as const;
  const host = {
    tenant: engine,
    access: { ...access, operator: false, tokenId: null },
    version: "0.0.0",
  };
  const asked = async (args: object, own: Partial<McpHost> = { history }) => {
    const { isError, content } = await trace.call({ ...host, ...own } as McpHost, args);
    const [{ text = "" } = {}] = content as { text?: string }[];
    if (isError !== true) return text;
    const { error } = JSON.parse(text) as { error: { message: string; details: object } };
    return [error.message.split(" Example:")[0], error.details];
  };
  const nobody = "No stored conversation wrote this.";
  expect(await asked({ line: "src/tax.ts:1" })).toBe(nobody);
  expect(await asked({ commit: "main~1..main", limit: 3 })).toBe(nobody);
  const refused: [args: object, message: string, own?: Partial<McpHost>][] = [
    [
      { line: "no.ts:3" },
      "line: there is no file no.ts here: give its path from the working folder.",
    ],
    [{ line: "src/tax.ts:9" }, "line: git: file src/tax.ts has only 4 lines."],
    [{ line: "src/tax.ts:0" }, "line: lines are counted from 1, not 0."],
    [
      { line: "src/new.ts:1" },
      "line: src/new.ts is not committed yet, so no line of it has a commit.",
    ],
    [{ line: "src" }, "line: src is a folder: name a file in it, a commit or a range (A..B)."],
    [
      { commit: "main..gone" },
      "commit: main..gone is no file, commit or range (A..B) of the repository here.",
    ],
    [
      { commit: "main..main" },
      "commit: main..main has no commits: give A..B, where B has commits that A has not.",
    ],
    [
      { line: "src/tax.ts:1", commit: "main", agent: "codex" },
      "line: goes with limit alone: leave out commit and agent.",
    ],
    [{ commit: "" }, "commit is an empty string; it must be a string of 1 to 16384 characters."],
    [
      { commit: "main" },
      "commit: needs a server in a clone: use backscroll mcp there, or backscroll blame.",
      {},
    ],
  ];
  for (const [args, message, own] of refused) {
    expect(await asked(args, own)).toEqual([message, { field: message.split(/:? /)[0] }]);
  }
});

test("the command shows rows and reasons, an object a line for programs, and exits with 1", async () => {
  const shop = new Repository(onTestFinished);
  const db = join(createFolder(onTestFinished), "shop.db");
  const engine = await open(db);
  await talk(engine, shop, "Tax", [
    { asked: "Compute the tax of an order.", path: "src/tax.ts", text: TAX.join("\n") },
  ]);
  await engine.close();
  shop.write("src/tax.ts", TAX);
  const commit = shop.commit("Compute the tax");
  const blame = (...args: readonly string[]) =>
    callCli(["blame", ...args, "--db", db], { cwd: shop.folder, env: { COLUMNS: "80" } });
  const { stdout, code } = await blame("src/tax.ts:1-2");
  expect(code).toBe(0);
  const [heading, row, , why, asked] = stdout.split("\n");
  expect(heading).toBe("LINES  SESSION   WHEN        SURE");
  expect(row).toMatch(/^1-2 {4}\w{8} {2}2026-01-05 {2}yes {3}Tax$/);
  expect(why).toBe(`1-2  claude-code for ana, commit ${commit.slice(0, 8)}`);
  expect(asked).toBe('  asked    #0 "Compute the tax of an order."');
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const json = await blame("HEAD~1..HEAD", "--json");
  const [object, ...rest] = json.stdout.trim().split("\n");
  expect(rest).toEqual([]);
  expect(JSON.parse(object ?? "")).toMatchObject({
    commit,
    lines: null,
    sessions: [{ sure: "yes" }],
  });
  expect((await blame("HEAD~1")).code).toBe(1);
  expect((await blame("HEAD~1")).stdout).toContain("no stored conversation wrote this");
  const pr = await callCli(["pr", "HEAD~1..HEAD", "--db", db], { cwd: shop.folder });
  expect(pr.code).toBe(0);
  expect(pr.stdout).toContain('- "Compute the tax of an order." (');
  expect(pr.stdout).toContain("- `npm test` passed last (");
  expect(pr.stdout).toMatch(/^- src\/tax\.ts \+4 −0 \(\w{8}\)$/m);
  expect(pr.stdout.split("\n").length).toBeLessThanOrEqual(61);
  expect(pr.stdout).not.toContain("quoted nowhere");
});
