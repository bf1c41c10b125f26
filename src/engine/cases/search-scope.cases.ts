import { describe, expect, test } from "vitest";
import {
  hitsOf,
  SECRET,
  type SearchCases,
  sessionsOf,
  snippetsOf,
  talk,
} from "./search-fixture.cases.ts";

/** Tenants, scope, filters, and text that is never found. */
export function searchScopeCases({ tenant, settle }: SearchCases): void {
  describe("a scope", () => {
    test("is limited to the tenant, for any query", async () => {
      const [one, two] = [tenant(), tenant()];
      await talk(one, ["the secret otter"]);
      await one.putMemory({ agent: "coder", name: "otter", content: "otter" });
      await settle(one);
      expect(await sessionsOf(two, "otter")).toEqual([]);
      expect(await sessionsOf(two, "otter tenant:other agent:coder")).toEqual([]);
      expect(await two.searchMemory("otter")).toEqual([]);
    });

    test("is set by the host: a filter in the query only narrows it", async () => {
      const own = tenant();
      const coder = await talk(own, ["shared heron"], { agent: "coder" });
      const other = await talk(own, ["shared heron"], { agent: "reviewer", owner: "eve" });
      await settle(own);
      expect(await sessionsOf(own, "heron agent:reviewer")).toEqual([other.id]);
      expect(await sessionsOf(own, "heron agent:reviewer", { agent: "coder" })).toEqual([]);
      expect(await sessionsOf(own, "heron agent:coder", { agent: "coder" })).toEqual([coder.id]);
      expect(await sessionsOf(own, "heron", { owner: "eve" })).toEqual([other.id]);
      expect(await sessionsOf(own, "heron", { session: coder.id })).toEqual([coder.id]);
      expect(await sessionsOf(own, "heron", { agent: ["coder", "reviewer"] })).toHaveLength(2);
      expect(await sessionsOf(own, "heron", { excludeSession: coder.id })).toEqual([other.id]);
      expect(await sessionsOf(own, "heron", { excludeSession: [coder.id, other.id] })).toEqual([]);
    });

    test("includes sessions and participants added since the last search", async () => {
      const own = tenant();
      const asked = () =>
        Promise.all([
          sessionsOf(own, "ermine", { agent: "scout" }),
          sessionsOf(own, "ermine", { participant: "yan" }),
        ]);
      const first = await talk(own, ["an ermine"], { agent: "scout" });
      await settle(own);
      expect(await asked()).toEqual([[first.id], []]);
      const second = await talk(own, ["ermine ermine"], { agent: "scout" });
      await first.append({ role: "user", actor: "yan", content: "I saw it" });
      await settle(own);
      const [ofAgent, ofParticipant] = await asked();
      expect([ofAgent?.toSorted(), ofParticipant]).toEqual([
        [first.id, second.id].toSorted(),
        [first.id],
      ]);
    });

    test("includes models of messages added since the last search", async () => {
      const own = tenant();
      const asked = (query = "lynx") => sessionsOf(own, query, { model: "m2" });
      const first = await talk(own, ["a lynx"]);
      await settle(own);
      expect(await asked()).toEqual([]);
      await first.append({ role: "assistant", actor: "coder", content: "I know", model: "m2" });
      expect(await asked()).toEqual([first.id]);
      expect(await sessionsOf(own, "lynx model:m2")).toEqual([first.id]);
      expect(await sessionsOf(own, "lynx model:m1")).toEqual([]);
      expect(await asked("lynx model:m1")).toEqual([]);
    });

    test("matches a project's folder by its whole name, not by its words", async () => {
      const own = tenant();
      const origin = { projectPath: "/home/ana/fix-ferret-dates" };
      const { id } = await talk(own, ["hello"], { origin });
      await talk(own, ["hello"], { origin: { projectPath: "/home/ana/worktrees/42" } });
      const other = await talk(own, ["the ferret is fed", "42 times"]);
      await settle(own);
      for (const query of ["ferret", "42"]) {
        expect([query, await sessionsOf(own, query)]).toEqual([query, [other.id]]);
      }
      expect((await sessionsOf(own, "fix-ferret-dates"))[0]).toBe(id);
    });

    test("filters by participants, project, workstation, git branch and source", async () => {
      const own = tenant();
      const origin = {
        source: "claude",
        workstation: "desk",
        projectId: "p1",
        projectPath: "/home/ana/jobs",
        gitBranch: "fix/lock",
        repo: "git.example/acme/jobs",
      };
      const { id } = await talk(own, ["a stoat"], { origin, participants: ["zoe"] });
      await talk(own, ["a stoat elsewhere"]);
      await settle(own);
      const inputs = [
        { participant: "zoe" },
        { project: "p1" },
        { project: "ana/jobs" },
        { workstation: "desk" },
        { gitBranch: "fix/lock" },
        { source: "claude" },
        { repo: "git.example/acme/jobs" },
        { repo: ["shop", "acme/jobs"] },
      ];
      for (const input of inputs) {
        expect(await sessionsOf(own, "stoat", input), JSON.stringify(input)).toEqual([id]);
      }
      expect(await sessionsOf(own, "stoat", { repo: "obs" })).toEqual([]);
      for (const filter of [
        "repo:acme/jobs",
        "project:jobs",
        "workstation:desk",
        "git:fix/lock",
        'project:"p1"',
      ]) {
        expect(await sessionsOf(own, `stoat ${filter}`), filter).toEqual([id]);
      }
    });

    test("filters before ranking: excluded sessions take no rank", async () => {
      const own = tenant();
      for (let i = 0; i < 12; i++) await talk(own, ["bison bison bison"], { agent: "loud" });
      const quiet = await talk(own, ["one bison among many other words of a long message"], {
        agent: "quiet",
      });
      await settle(own);
      expect(await sessionsOf(own, "bison", { agent: "quiet", limit: 1 })).toEqual([quiet.id]);
      expect(await sessionsOf(own, "bison -bison")).toEqual([]);
    });

    test("filters by time, role and tool", async () => {
      const own = tenant();
      // Days in a query are those of the local time zone.
      const at = (day: number) => new Date(2026, 2, day, 12).getTime();
      const session = await talk(own, [
        { role: "user", actor: "ana", content: "yak one", createdAt: at(1) },
        { role: "assistant", actor: "coder", content: "yak two", createdAt: at(2) },
        {
          role: "assistant" as const,
          actor: "coder",
          createdAt: at(3),
          content: "yak three",
          toolCalls: [{ id: "1", name: "run_yak", arguments: {} }],
        },
      ]);
      await settle(own);
      const found = (query: string, input = {}) => snippetsOf(own, query, input);
      expect(await found("yak", { since: at(2) })).toHaveLength(2);
      expect(await found("yak", { since: at(2), until: new Date(at(3)) })).toEqual(["yak two"]);
      expect(await found("yak until:2026-03-01")).toEqual(["yak one"]);
      expect(await found("yak since:2026-03-03")).toEqual(["yak three"]);
      expect(await found("yak", { role: "user" })).toEqual(["yak one"]);
      expect(await found("yak role:user")).toEqual(["yak one"]);
      expect(await found("yak tool:run_yak")).toEqual(["yak three"]);
      expect(await found("yak", { tool: "run_yak" })).toEqual(["yak three"]);
      expect(await found("yak", { since: at(9) })).toEqual([]);
      const { hits, notes } = await own.searchSessions("yak since:whenever");
      expect([hits[0]?.sessionId, notes.join()]).toEqual([
        session.id,
        expect.stringContaining("is no date"),
      ]);
    });
  });

  describe("text that is never found", () => {
    test("includes secrets in messages, titles and notes; a hit next to one masks it", async () => {
      const own = tenant();
      const session = await talk(
        own,
        [`deploy with ${SECRET} now`, "postgres://ana:pa55word@db/app is the address"],
        { title: `Key ${SECRET}` },
      );
      await own.putMemory({ agent: "coder", name: "key", content: `It is ${SECRET}` });
      await session.addFacts([{ subject: "token", predicate: "is", object: SECRET }]);
      await settle(own);
      for (const query of [SECRET, SECRET.slice(4), "pa55word", `"${SECRET}"`]) {
        expect(await sessionsOf(own, query), query).toEqual([]);
        expect(await own.searchMemory(query), query).toEqual([]);
        expect(await own.searchFacts(query), query).toEqual([]);
      }
      const [hit] = await hitsOf(own, "deploy");
      expect(hit?.meta.title).toBe("Key [redacted]");
      expect(hit?.window.map(({ snippet }) => snippet)).toEqual([
        "deploy with [redacted] now",
        "postgres://ana:[redacted]@db/app is the address",
      ]);
      expect((await session.history())[0]?.blocks).toMatchObject([
        { text: `deploy with ${SECRET} now` },
      ]);
      expect((await own.searchMemory("key"))[0]?.content).toBe(`It is ${SECRET}`);
    });
  });

  describe("memories and facts", () => {
    test("are found whole and current, best first", async () => {
      const own = tenant();
      await own.putMemory({ agent: "coder", name: "deploy", content: "Migrate before lynx." });
      await own.putMemory({ agent: "other", name: "lynx", content: "lynx lynx" });
      const session = await talk(own, []);
      const facts = await session.addFacts([
        { subject: "lynx", predicate: "lives in", object: "the hills" },
        { subject: "puma", predicate: "lives in", object: "the plains" },
      ]);
      await settle(own);
      expect((await own.searchMemory("lynx")).map(({ name }) => name)).toEqual(["lynx", "deploy"]);
      expect(await own.searchMemory("lynx", { agent: "coder" })).toMatchObject([
        { name: "deploy", content: "Migrate before lynx." },
      ]);
      expect(await own.searchMemory("lynx", { agent: "code" })).toEqual([]);
      expect(await own.searchMemory("lynx", { limit: 1 })).toHaveLength(1);
      expect(await own.searchFacts("lynx hills")).toMatchObject([{ subject: "lynx" }]);

      await own.putMemory({ agent: "coder", name: "deploy", content: "Nothing of the kind." });
      await own.deleteMemory("other", "lynx");
      await own.deleteFact(facts[0]?.id ?? "");
      expect(await own.searchMemory("lynx")).toEqual([]);
      expect(await own.searchFacts("lynx")).toEqual([]);
      expect(await own.searchFacts("puma")).toHaveLength(1);
    });
  });
}
