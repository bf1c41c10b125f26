import { expect, test } from "vitest";
import { type Step, UnaskedStore } from "../../../test/support/unasked-store.ts";

const ANSWER =
  "The worktree's index pointed to a lost object e53647ba; `git read-tree HEAD` rebuilt the index, so git status works again.";
const TALK: readonly Step[] = [
  { user: "Our git status has broken, why?" },
  { agent: "Let me look at the index of the worktree." },
  { agent: ANSWER },
  { user: "Did it come back?" },
  { agent: "Yes: git status said that it was unable to read the object e53647ba twice." },
];
const QUESTION = {
  moment: "prompt",
  text: "git status says unable to read object e53647ba in the index of the worktree again?",
} as const;

async function stored(fields = {}) {
  const store = await UnaskedStore.open();
  const session = await store.add(TALK, fields);
  await store.addOthers();
  return { store, session };
}

test("a prompt gets the answer's line and where to read on, in 600 bytes", async () => {
  const { store, session } = await stored();
  const { shortId } = await session.meta();
  const said = await store.ask(QUESTION);
  expect(said.hit).toMatchObject({ sessionId: session.id });
  expect(said.text).toContain(`Read on: ${shortId}#${said.hit?.index}`);
  expect(said.text).toContain("e53647ba");
  expect(Buffer.byteLength(said.text)).toBeLessThanOrEqual(600);
});

test.each([
  ["commit this", "too_short"],
  ["yes, do it", "too_short"],
  ["/git-status-of-worktree-index", "too_short"],
  ["Implement the following plan:\n\n# Rebuild the index of the worktree", "too_long"],
  [`git status: ${"unable to read e53647ba ".repeat(100)}`, "too_long"],
  [
    "<system-reminder>git status: unable to read e53647ba of the worktree</system-reminder>",
    "too_short",
  ],
  ["Which lentils boil soonest with onions and cumin?", "nothing_found"],
])("%j is silence", async (text, reason) => {
  const { store } = await stored();
  const said = await store.ask({ moment: "prompt", text });
  expect(said).toMatchObject({ speaks: false, why: { reason } });
});

test("words that every session has are no answer", async () => {
  const { store } = await stored();
  const said = await store.ask({ moment: "prompt", text: "Fix the checkout tests of the page." });
  expect(said.speaks).toBe(false);
});

test("an archive of a few sessions is not sure", async () => {
  const store = await UnaskedStore.open();
  await store.add(TALK);
  expect((await store.ask(QUESTION)).why.reason).toBe("unsure");
});

test("neither the caller's own session, nor its sub-agent, nor a foreign one answers", async () => {
  const { store, session } = await stored();
  expect((await store.ask({ ...QUESTION, session: session.id })).speaks).toBe(false);
  const parent = await store.add([{ user: "Go." }], { origin: { key: "claude:p" } });
  const child = { origin: { key: "claude:p/1" }, metadata: { parent: { key: "claude:p" } } };
  const started = await stored(child);
  const own = await started.store.add([{ user: "Go." }], { origin: { key: "claude:p" } });
  expect((await started.store.ask(QUESTION)).hit?.sessionId).toBe(started.session.id);
  expect((await started.store.ask({ ...QUESTION, session: own.id })).speaks).toBe(false);
  expect((await store.ask({ ...QUESTION, session: parent.id })).speaks).toBe(true);
  const foreign = await stored({ origin: { source: "claude-code" } });
  expect((await foreign.store.ask(QUESTION)).speaks).toBe(false);
});

test("of sessions that were running, without a name, none answers", async () => {
  const { store } = await stored();
  const at = Date.UTC(2026, 0, 1, 0, 5);
  expect((await store.ask({ ...QUESTION, at })).speaks).toBe(false);
});

test("a message that a person marked is never said, and one that was said not again", async () => {
  const { store, session } = await stored();
  const { hit } = await store.ask(QUESTION);
  expect((await store.ask({ ...QUESTION, said: hit === null ? [] : [hit] })).why.reason).toBe(
    "already_said",
  );
  const [entry] = (await session.listMessages({ offset: hit?.index ?? 0, limit: 1 })).messages;
  await session.mark({ entryId: entry?.id as string, reason: "It was the disk." });
  const again = await store.ask(QUESTION);
  expect(again.hit?.index).not.toBe(hit?.index);
  await session.mark({ reason: "All wrong." });
  expect((await store.ask(QUESTION)).speaks).toBe(false);
});
