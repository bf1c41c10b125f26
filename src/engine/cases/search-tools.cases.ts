import { describe, expect, test } from "vitest";
import type { MessageInput } from "../message-input.ts";
import { hitsOf, SECRET, type SearchCases, sessionsOf, talk } from "./search-fixture.cases.ts";

/** A tool call and its result. */
function used(name: string, input: object, output: string, said = ""): MessageInput {
  return {
    role: "assistant",
    ...(said === "" ? {} : { content: said }),
    toolCalls: [{ id: "1", name, arguments: input as never }],
    toolResults: [{ id: "1", name, output }],
  };
}

/** Tool traffic in the index, and its exclusions. */
export function searchToolCases({ tenant, settle }: SearchCases): void {
  describe("tool calls and results", () => {
    test("are found: arguments, output, and a phrase in it", async () => {
      const own = tenant();
      const { id } = await talk(own, [
        "please look",
        used("Bash", { command: "go test ./kudu\ngit status" }, "FAIL: panic in impala_test.go"),
      ]);
      await talk(own, ["something else", used("Bash", { command: "ls" }, "eland.ts")]);
      await settle(own);
      for (const query of [
        "kudu",
        "git",
        "impala_test.go",
        '"panic in impala"',
        "+panic",
        "impal*",
      ]) {
        expect([query, (await sessionsOf(own, query))[0]]).toEqual([query, id]);
      }
      const [hit] = await hitsOf(own, '"panic in impala"');
      const found = hit?.window.find((item) => item.found);
      expect(found).toMatchObject({ role: "tool", toolName: "Bash" });
      expect(found?.snippet).toContain("panic in impala_test.go");
      expect(found?.matches.length).toBeGreaterThan(0);
    });

    test("are shown at their match: after an escaped line break, and never as an empty result", async () => {
      const own = tenant();
      const text = `${"name: tests\n".repeat(200)}kudu: here\n${"end: of it\n".repeat(200)}`;
      await talk(own, [used("Write", { file_path: "ci.yml", content: text }, "")]);
      await settle(own);
      const [hit] = await hitsOf(own, "kudu");
      const found = hit?.window.find((item) => item.found);
      expect(found?.matches.map(({ start, end }) => found.snippet.slice(start, end))).toEqual([
        "kudu",
      ]);
      expect(hit?.window.filter(({ role }) => role === "tool")).toMatchObject([{ snippet: "" }]);
    });

    test("are found at both ends of a long output, and not in its middle", async () => {
      const own = tenant();
      const filler = "lorem ipsum ".repeat(4_000);
      const output = `headword ${filler} middleword ${filler} tailword`;
      const { id } = await talk(own, [used("Read", { path: "x" }, output)]);
      await settle(own);
      expect(await sessionsOf(own, "headword")).toEqual([id]);
      expect(await sessionsOf(own, "tailword")).toEqual([id]);
      expect(await sessionsOf(own, "middleword")).toEqual([]);
    });

    test("have no secrets, at either end of an output", async () => {
      const own = tenant();
      const filler = "lorem ipsum ".repeat(4_000);
      const key = `-----BEGIN PRIVATE KEY-----\n${"QUJD\n".repeat(4_000)}pemword\n-----END PRIVATE KEY-----`;
      await talk(own, [
        used("Read", { token: SECRET }, `${SECRET} ${filler} password=${SECRET}`),
        used("Bash", { command: "cat" }, `${filler}${key} done`),
      ]);
      await settle(own);
      for (const query of [SECRET, SECRET.slice(4), "pemword", "QUJD"]) {
        expect([query, await sessionsOf(own, query, { match: "all" })]).toEqual([query, []]);
      }
      expect(await sessionsOf(own, "lorem")).toHaveLength(1);
    });

    test("of our own tools have unindexed results", async () => {
      const own = tenant();
      await talk(own, [
        used("mcp__backscroll__search_sessions", { query: "x" }, "an okapi in an answer"),
        used("search_sessions", { query: "x" }, "an okapi in another"),
      ]);
      const { id } = await talk(own, [used("mcp__zoo__list", {}, "an okapi")]);
      await settle(own);
      expect(await sessionsOf(own, "okapi")).toEqual([id]);
    });

    test("rank first with the exact query, a call before an output", async () => {
      const own = tenant();
      const query = "kiwi push origin dodo";
      const rest = "with many other words that nobody has asked for ".repeat(3);
      const { id: said } = await talk(own, [used("Bash", { command: `${query} ${rest}` }, "ok")]);
      const { id: shown } = await talk(own, [used("Bash", { command: "ls" }, `${query} ${rest}`)]);
      const { id: mixed } = await talk(own, ["dodo origin push kiwi, origin kiwi, dodo push"]);
      await settle(own);
      expect((await sessionsOf(own, query, { ranking: { verbatim: 0 } }))[0]).toBe(mixed);
      expect((await sessionsOf(own, query))[0]).toBe(said);
      const [first, ...others] = await hitsOf(own, query, { explain: true });
      const shownHit = others.find(({ sessionId }) => sessionId === shown);
      expect(first?.parts?.coverage).toBeGreaterThan(shownHit?.parts?.coverage ?? Infinity);
      expect((await sessionsOf(own, "kiwi push dodo origin"))[0]).toBe(mixed);
    });

    test("rank behind messages, and outputs are no neighbours", async () => {
      const own = tenant();
      const noise = used("Read", { path: "x" }, "cron ".repeat(200));
      await talk(own, ["please read it", noise, noise]);
      const { id } = await talk(own, ["why does cron run twice?"]);
      await settle(own);
      expect((await sessionsOf(own, "why does cron run twice"))[0]).toBe(id);
    });

    test("that repeat a message rank behind it, and are found", async () => {
      const own = tenant();
      const subject = "refactor the kudu parser into a package";
      const { id } = await talk(own, [
        "the code is hard to read",
        used("Bash", { command: `git add . && git commit -m "${subject}"` }, "done"),
      ]);
      const log = used("Bash", { command: "git log" }, subject);
      const later = await talk(own, ["is the kudu parser a package?", log, log]);
      const shown = await talk(own, ["what was done?", log]);
      await settle(own);
      const [first, ...others] = await sessionsOf(own, subject);
      expect(first).toBe(id);
      expect(others.sort()).toEqual([later.id, shown.id].sort());
    });

    test("an assistant message with a tool call has the role assistant and the weight of a tool", async () => {
      const own = tenant();
      await talk(own, [{ role: "assistant", content: "the gnu is here" }]);
      const { id } = await talk(own, [used("Bash", {}, "", "the gnu is here")]);
      await settle(own);
      expect((await sessionsOf(own, "gnu", { role: "assistant" })).sort()).toHaveLength(2);
      const [first] = await hitsOf(own, "gnu", { ranking: { roles: { tool: 9 } as never } });
      expect(first?.sessionId).toBe(id);
    });
  });

  test("machine-made sessions are left out, unless requested or named", async () => {
    const own = tenant();
    const { id } = await talk(own, ["warmup springbok"], { metadata: { machineMade: true } });
    const other = await talk(own, ["a springbok"], { metadata: { machineMade: false } });
    await settle(own);
    expect(await sessionsOf(own, "springbok")).toEqual([other.id]);
    expect(await sessionsOf(own, "springbok", { session: id })).toEqual([id]);
    expect((await sessionsOf(own, "springbok", { machineMade: true })).sort()).toEqual(
      [id, other.id].sort(),
    );
  });

  test("the last word matches as a prefix while it is being typed", async () => {
    const own = tenant();
    const { id } = await talk(own, ["the acquireLock function", "waits for bongos"]);
    await settle(own);
    expect(await sessionsOf(own, "waits bon")).toEqual([id]);
    expect(await sessionsOf(own, "bon")).toEqual([]);
    expect(await sessionsOf(own, "bon", { asYouType: true })).toEqual([id]);
    expect(await sessionsOf(own, "bon ", { asYouType: true })).toEqual([]);
    expect(await sessionsOf(own, "+bon", { asYouType: true })).toEqual([id]);
  });

  test("a word without matches is reported, and no other number replaces it", async () => {
    const own = tenant();
    await talk(own, ["version 1 of it"]);
    await settle(own);
    const { hits, notes } = await own.searchSessions("bilby1");
    expect(hits).toEqual([]);
    expect(notes).toEqual(["no match for bilby1"]);
    expect((await own.searchSessions("version qzx")).notes).toEqual(["no match for qzx"]);
  });

  test("a name copied from JSON with the letter of an escape is found", async () => {
    const own = tenant();
    const { id } = await talk(own, ["call parseThings here"]);
    await talk(own, ["we parse other things"]);
    await settle(own);
    expect((await sessionsOf(own, "tparseThings"))[0]).toBe(id);
  });

  test("a neighbour whose payload is not read is marked as truncated", async () => {
    const own = tenant();
    const long = "long answer ".repeat(4_000);
    await talk(own, ["where is the dikdik?", { role: "assistant", content: long }]);
    await settle(own);
    const [hit] = await hitsOf(own, "dikdik");
    expect(hit?.window.map(({ found, truncated }) => [found, truncated])).toEqual([
      [true, false],
      [false, true],
    ]);
  });
}
