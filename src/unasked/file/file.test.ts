import { expect, test } from "vitest";
import { type Step, UnaskedStore } from "../../../test/support/unasked-store.ts";
import { isCommonFile } from "./common-files.ts";

const FILE = "/home/ana/shop/src/checkout_tax.ts";
const WORK: readonly Step[] = [
  { user: "The tax is off by one cent, round it." },
  { edit: FILE, text: "export function roundTaxLine() {}" },
  {
    agent:
      "checkout_tax.ts now has roundTaxLine: we do not want to round each line, because the sum would differ from the invoice.",
  },
];

test("a file gets what was ruled out about it, and whether it changed since", async () => {
  const store = await UnaskedStore.open();
  const session = await store.add(WORK);
  const { shortId } = await session.meta();
  const said = await store.ask({ moment: "file", file: FILE });
  expect(said.text.split("\n").slice(1, -1)).toEqual([
    `checkout_tax.ts, the agent on 2026-01-01 (${shortId}#3): "checkout_tax.ts now has roundTaxLine: we do not want to round each line, because the sum would differ from the invoice."`,
    "No later session changed the file.",
  ]);
  await store.add([{ user: "Again." }, { edit: FILE }]);
  expect((await store.ask({ moment: "file", file: FILE })).text).toContain(
    "1 later session changed the file.",
  );
});

test("only what came before, of an own session and unmarked, is said", async () => {
  const store = await UnaskedStore.open();
  const session = await store.add(WORK);
  const file = { moment: "file", file: FILE } as const;
  expect((await store.ask({ ...file, at: Date.UTC(2025, 0, 1) })).speaks).toBe(false);
  expect((await store.ask({ ...file, session: session.id })).speaks).toBe(false);
  expect((await store.ask({ moment: "file", file: "/home/ana/shop/src/cart.ts" })).speaks).toBe(
    false,
  );
  const [entry] = (await session.listMessages({ offset: 3, limit: 1 })).messages;
  await session.mark({ entryId: entry?.id as string, reason: "We do round each line now." });
  expect((await store.ask(file)).speaks).toBe(false);
  const foreign = await UnaskedStore.open();
  await foreign.add(WORK, { origin: { source: "codex", projectPath: "/home/ana/shop" } });
  expect((await foreign.ask(file)).speaks).toBe(false);
});

test.each([
  "README.md",
  "CLAUDE.md",
  "AGENTS.md",
  "package.json",
  "package-lock.json",
  "go.mod",
  "go.sum",
  "Cargo.lock",
  "sub/tsconfig.build.json",
  "/repo/node_modules/x/index.js",
  "CHANGELOG.md",
  ".gitignore",
])("%s is never spoken of", async (file) => {
  expect(isCommonFile(file)).toBe(true);
});

test("sources are not common files", () => {
  expect(["src/server.ts", "docs/design.md", "cmd/build.go"].map(isCommonFile)).toEqual([
    false,
    false,
    false,
  ]);
});
