import { describe, expect, test } from "vitest";
import type { MessageInput } from "../message-input.ts";
import { hitsOf, type SearchCases, sessionsOf, snippetsOf, talk } from "./search-fixture.cases.ts";

/** What a command printed. */
function printed(output: string, command = "make"): MessageInput {
  return {
    role: "assistant",
    toolCalls: [{ id: "1", name: "Bash", arguments: { command } }],
    toolResults: [{ id: "1", name: "Bash", output }],
  };
}

/** Messages with all words of a line, often, but never one after another. */
function scattered(line: string): (string | MessageInput)[] {
  const words = (line.match(/\w+/g) ?? []).reverse();
  const often = Array.from({ length: 4 }, () => words.join(" and ")).join(". ");
  return [often, printed(often), `So ${often}`, printed(often)];
}

/** A query that was copied out of a message, signs and operators included. */
export function searchLineCases({ tenant, settle }: SearchCases): void {
  describe("a copied line", () => {
    test.each([
      "fatal: not a git repository",
      "cat: kudu.txt: No such file or directory",
      "error: NOT NULL constraint failed: kudu.name",
      "tar -xf kudu.tar -C impala",
      'panic: assignment to entry in "nil" map +0x1d',
      "E: the value is a*",
    ])("is found first: %s", async (line) => {
      const own = tenant();
      for (let i = 0; i < 3; i++) await talk(own, scattered(line));
      const { id } = await talk(own, [
        "please build it",
        printed(`${"compiling a file\n".repeat(40)}${line} (or any of it)\n${"done\n".repeat(40)}`),
        ...scattered(line),
      ]);
      for (let i = 0; i < 3; i++) await talk(own, scattered(line));
      await settle(own);
      for (const query of [line, `"${line.replaceAll('"', "")}"`, `${line} agent:coder`]) {
        const [hit] = await hitsOf(own, query, { contextBefore: 0, contextAfter: 0 });
        expect([query, hit?.sessionId]).toEqual([query, id]);
        expect(hit?.window[0]?.snippet).toContain(line);
      }
    });

    test("is found where the last word is being typed, too", async () => {
      const own = tenant();
      await talk(own, ["address the following findings: invalid memory, runtime error"]);
      const line = "runtime error: invalid memory address";
      const { id } = await talk(own, ["run it", printed(`panic: ${line} or nil dereference`)]);
      await settle(own);
      expect((await sessionsOf(own, line, { asYouType: true }))[0]).toBe(id);
    });

    test("with a word to leave out finds literal copies alone", async () => {
      const own = tenant();
      const line = "kudu push -impala dodo";
      await talk(own, [printed("kudu push impala dodo")]);
      await talk(own, [printed("kudu push of an impala")]);
      const { id: plain } = await talk(own, ["kudu push"]);
      await settle(own);
      expect(await sessionsOf(own, line)).toEqual([plain]);
      const { id: copy } = await talk(own, [printed(`kudu help\n  ${line}`)]);
      await settle(own);
      expect(await sessionsOf(own, line)).toEqual([copy, plain]);
      expect(await sessionsOf(own, line, { ranking: "plain" })).toEqual([plain]);
    });

    test("is compared with its signs, where several sessions have its words", async () => {
      const own = tenant();
      const { id: said } = await talk(own, [printed("ok", "echo 'kudu(impala, dodo) == eland'")]);
      const added = await talk(own, [
        printed("kudu(impala, dodo);"),
        printed("+kudu(impala, dodo)"),
      ]);
      const taken = await talk(own, [
        printed("-kudu(impala, dodo)"),
        printed("kudu: impala: dodo"),
      ]);
      await settle(own);
      expect((await sessionsOf(own, "+kudu(impala, dodo)"))[0]).toBe(added.id);
      expect((await sessionsOf(own, "-kudu(impala, dodo)"))[0]).toBe(taken.id);
      expect((await sessionsOf(own, "kudu: impala: dodo"))[0]).toBe(taken.id);
      expect((await sessionsOf(own, "kudu(impala, dodo) == eland"))[0]).toBe(said);
    });

    test("is found in coloured output", async () => {
      const own = tenant();
      const line = "ERROR the kudu is not found";
      for (let i = 0; i < 3; i++) await talk(own, scattered(line));
      const { id } = await talk(own, [printed(`\u001b[1;31m${line}\u001b[0m`)]);
      await settle(own);
      expect((await sessionsOf(own, line))[0]).toBe(id);
    });

    test("is the first hit of its session, and of the filtered messages alone", async () => {
      const own = tenant();
      const line = "the kudu is not found";
      const session = await talk(own, [line, ...scattered(line), printed(`make: ${line}`)]);
      await settle(own);
      const all = { perSession: 20, limit: 20, contextBefore: 0, contextAfter: 0 };
      const hits = await hitsOf(own, line, all);
      expect(hits.map(({ index }) => index)[0]).toBe(0);
      expect(new Set(hits.map(({ entryId }) => entryId)).size).toBe(hits.length);
      expect(hits.length).toBeGreaterThan(3);
      const [shown] = await hitsOf(own, line, { ...all, role: "tool" });
      expect(shown?.window[0]?.snippet).toContain(`make: ${line}`);
      expect(shown?.sessionId).toBe(session.id);
    });

    test("that lists of commits have is an echo of the session that speaks of it", async () => {
      const own = tenant();
      const subject = "copy the kudu from the impala";
      const { id } = await talk(own, [
        "let us copy the kudu",
        "now from the impala: the kudu is a copy",
        "the kudu was a copy from the impala",
      ]);
      const lists = [
        `1f2e3d4 ${subject}\n5d6c7b8 other`,
        `commit 1f2e3d4c5b6a\nAuthor: Ana\nDate:   Mon May 4\n\n    ${subject}\n\n    more`,
        `276\t${subject}\tana:kudu\tOPEN`,
        `[main 1f2e3d4] ${subject}`,
      ];
      for (const list of lists) await talk(own, ["show me the last ones", printed(list)]);
      await settle(own);
      expect((await sessionsOf(own, subject))[0]).toBe(id);
    });
  });

  describe("an excerpt", () => {
    test("has the phrase, and begins and ends with a word", async () => {
      const own = tenant();
      const filler = "the kudu, and the impala of it; ".repeat(60);
      await talk(own, [`${filler}the kudu of the impala ${filler}`]);
      await settle(own);
      for (const query of ['"kudu of the impala"', "kudu of the impala"]) {
        const [snippet = ""] = await snippetsOf(own, query);
        expect(snippet).toContain("kudu of the impala");
        expect(` ${filler}`).toContain(` ${snippet.slice(0, 20)}`);
        expect(`${filler} `).toMatch(new RegExp(`${snippet.trimEnd().slice(-20)}\\W`));
      }
    });

    test("is of the tool, where the text has single words of the run", async () => {
      const own = tenant();
      const command = "git push origin kudu";
      await talk(own, [{ ...printed("ok", command), content: "I push the kudu now" }]);
      await settle(own);
      expect((await snippetsOf(own, command))[0]).toContain(command);
      expect((await snippetsOf(own, "kudu"))[0]).toBe("I push the kudu now");
    });
  });
}
