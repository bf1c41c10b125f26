import { describe, expect, test } from "vitest";
import type { FactExtractor, FactRequest, ProposedFact } from "../../../facts/fact-extractor.ts";
import { textOf } from "../../../model/block.ts";
import type { JsonObject } from "../../../model/json.ts";
import { type ContextCases, turns } from "../../context/cases/fixture.cases.ts";
import type { SessionHandle } from "../../session-handle.ts";

/** Extracts `fact: subject, predicate, object` from messages, and records its requests. */
class Scripted implements FactExtractor {
  readonly name = "scripted";
  readonly maxInputTokens?: number;
  readonly requests: FactRequest[] = [];
  /** Runs during the extraction. */
  meanwhile: () => Promise<unknown> = async () => undefined;

  constructor(maxInputTokens?: number) {
    if (maxInputTokens !== undefined) this.maxInputTokens = maxInputTokens;
  }

  async extract(request: FactRequest) {
    this.requests.push(request);
    await this.meanwhile();
    const facts = request.entries.flatMap(({ id, blocks }): ProposedFact[] =>
      [...textOf(blocks).matchAll(/fact: (.+?), (.+?), ([^\n]+)/g)].map(
        ([, subject = "", predicate = "", object = ""]) => ({
          subject,
          predicate,
          object: object.replace(/ \+$/, ""),
          confidence: 0.9,
          entryId: id,
          many: object.endsWith(" +"),
        }),
      ),
    );
    return { facts, unread: 0 };
  }

  /** The messages of each request, by their first word. */
  get read(): string[] {
    return this.requests.map(({ entries }) =>
      entries.map(({ blocks }) => textOf(blocks).split(" ")[0]).join(" "),
    );
  }
}

export function extractFactsCases({ tenant }: ContextCases): void {
  const ON: JsonObject = { facts: { enabled: true } };

  async function talk(texts: readonly string[], metadata = ON): Promise<SessionHandle> {
    const session = await tenant().createSession({ agent: "coder", createdBy: "ana", metadata });
    if (texts.length > 0) await say(session, ...texts);
    return session;
  }

  const say = (session: SessionHandle, ...texts: readonly string[]) =>
    session.append(texts.map((content) => ({ role: "user" as const, actor: "ana", content })));

  const listed = async (session: SessionHandle, superseded = false) =>
    (await session.listFacts({ superseded, limit: 500 })).map(
      ({ subject, predicate, object, supersededBy }) =>
        `${subject} ${predicate} ${object}${supersededBy === null ? "" : " (old)"}`,
    );

  describe("extractFacts", () => {
    test("stores the stated facts, each with its source", async () => {
      const session = await talk([
        "a fact: Ana, city, Rome",
        "b nothing",
        "c fact: Bo, likes, tea",
      ]);
      const extractor = new Scripted();
      const facts = await session.extractFacts(undefined, { extractor });
      const { messages } = await session.listMessages();
      expect(facts).toMatchObject([
        { subject: "Ana", object: "Rome", sourceEntry: messages[0]?.id, confidence: 0.9 },
        { subject: "Bo", object: "tea", sourceEntry: messages[2]?.id, supersededBy: null },
      ]);
      expect(await session.listFacts()).toEqual(facts);
      expect(extractor.read).toEqual(["a b c"]);
    });

    test("supersedes older facts of the owner's other sessions, by the time of the statement", async () => {
      const extractor = new Scripted();
      const own = tenant();
      const talkOf = async (createdBy: string, at: number, ...texts: string[]) => {
        const session = await own.createSession({ agent: "coder", createdBy, metadata: ON });
        const role = "user" as const;
        await session.append(texts.map((content) => ({ role, content, createdAt: at })));
        return session;
      };
      const first = await talkOf("ana", 1_000, "fact: Ana, lives in, Rome", "fact: Bo, likes, tea");
      const other = await talkOf("bo", 1_000, "fact: Ana, lives in, Bonn");
      const newest = await talkOf("ana", 3_000, "fact: ana, lives_in, Oslo");
      const late = await talkOf("ana", 2_000, "fact: Ana, lives in, Paris");
      await first.extractFacts(undefined, { extractor });
      await other.extractFacts(undefined, { extractor });
      const [oslo] = await newest.extractFacts(undefined, { extractor });
      expect(await listed(first, true)).toEqual(["Ana lives in Rome (old)", "Bo likes tea"]);
      expect((await first.listFacts({ superseded: true }))[0]?.supersededBy).toBe(oslo?.id);
      // It was extracted last, and said before.
      const [paris] = await late.extractFacts(undefined, { extractor });
      expect(paris?.supersededBy).toBe(oslo?.id);
      expect(await listed(newest)).toEqual(["ana lives_in Oslo"]);
      expect(await listed(late)).toEqual([]);
      expect(await listed(other)).toEqual(["Ana lives in Bonn"]);
    });

    test("is off unless the session enables it", async () => {
      for (const metadata of [{}, { facts: { enabled: "true" } }, { facts: true }]) {
        const session = await talk(["fact: Ana, city, Rome"], metadata);
        const extractor = new Scripted();
        await expect(session.extractFacts(undefined, { extractor })).rejects.toMatchObject({
          code: "facts_disabled",
          details: { sessionId: session.id },
        });
        expect(extractor.requests).toEqual([]);
      }
    });

    test("needs an extractor or a model", async () => {
      const session = await talk(["x"], { facts: { enabled: true, model: "fast" } });
      await expect(session.extractFacts()).rejects.toMatchObject({
        code: "model_unavailable",
        details: { model: "fast" },
      });
      await expect(session.extractFacts(undefined, { model: "slow" })).rejects.toMatchObject({
        details: { model: "slow" },
      });
      await expect(session.extractFacts("nobody", { extractor: new Scripted() })).rejects.toThrow(
        /nobody/,
      );
    });

    test("continues after the last extraction, and skips an empty session", async () => {
      const extractor = new Scripted();
      const session = await talk([]);
      expect(await session.extractFacts(undefined, { extractor })).toEqual([]);
      const [first] = await say(session, "a fact: Ana, city, Rome", "b", "c");
      await session.extractFacts(first?.id, { extractor });
      await session.extractFacts(undefined, { extractor });
      await session.extractFacts(undefined, { extractor });
      await session.extractFacts(first?.id, { extractor });
      await say(session, "d fact: Ana, city, rome");
      expect(await session.extractFacts(undefined, { extractor })).toEqual([]);
      expect(extractor.read).toEqual(["a", "b c", "d"]);
      expect(await listed(session)).toEqual(["Ana city Rome"]);
      expect(extractor.requests.at(-1)?.known).toMatchObject([{ object: "Rome" }]);
    });

    test("reads every branch once, at any fork", async () => {
      const extractor = new Scripted();
      const extract = () => session.extractFacts(undefined, { extractor });
      const session = await talk(["a", "b", "c"]);
      const { messages } = await session.listMessages();
      await extract();
      await session.branch(messages[0]?.id ?? "");
      const [left] = await say(session, "d", "e");
      await session.branch(messages[1]?.id ?? "");
      await say(session, "f");
      await extract();
      await session.branch(left?.id ?? "");
      await extract();
      await say(session, "g");
      await extract();
      await session.branch(messages[2]?.id ?? "");
      await extract();
      expect(extractor.read).toEqual(["a b c", "f", "d", "g"]);
    });

    test("supersedes changed facts and keeps the history", async () => {
      const session = await talk(["fact: Ana, city, Rome\nfact: Ana, speaks, Dutch +"]);
      const extractor = new Scripted();
      await session.extractFacts(undefined, { extractor });
      await say(session, "fact: ana, City, Oslo\nfact: Ana, speaks, Thai +");
      const facts = await session.extractFacts(undefined, { extractor });
      expect(facts.map(({ object }) => object)).toEqual(["Oslo", "Thai"]);
      expect(await listed(session, true)).toEqual([
        "Ana city Rome (old)",
        "Ana speaks Dutch",
        "ana City Oslo",
        "Ana speaks Thai",
      ]);
    });

    test("splits a long conversation into parts; a failure keeps the finished ones", async () => {
      const session = await talk([]);
      await session.append(turns(3, 300));
      await say(session, "last fact: Ana, city, Rome");
      await session.append(turns(1, 600, 4));
      const extractor = new Scripted(1_000);
      extractor.meanwhile = async () => {
        if (extractor.requests.length === 4) throw new Error("out of order");
      };
      await expect(session.extractFacts(undefined, { extractor })).rejects.toThrow("out of order");
      expect(await listed(session)).toEqual(["Ana city Rome"]);
      expect(extractor.read[2]).toContain("last");
      const again = new Scripted(1_000);
      await session.extractFacts(undefined, { extractor: again });
      expect(again.read[0]).toBe(extractor.read[3]);
      expect([...extractor.read.slice(0, 3), ...again.read].join(" ")).toBe(
        "question answer question answer question answer last question answer",
      );
    });

    test("reports the result of each part, and superseded facts", async () => {
      const session = await talk([]);
      await say(session, `fact: Ana, city, Rome${" lorem".repeat(400)}`);
      await say(session, "fact: Ana, city, Oslo\nfact: Bo, password, hunter22");
      const parts: unknown[] = [];
      const facts = await session.extractFacts(undefined, {
        extractor: new Scripted(800),
        onPart: (part) => parts.push(part),
      });
      expect(facts.map(({ supersededBy }) => supersededBy)).toEqual([facts[1]?.id, null]);
      const none = { duplicates: 0, unsupported: 0, unread: 0 };
      expect(parts).toMatchObject([
        { ...none, messages: 1, added: 1, withheld: 0 },
        { ...none, messages: 1, added: 1, withheld: 1 },
      ]);
    });

    test("never stores a secret, nor personal data or facts that the host refuses", async () => {
      const texts = [
        "fact: deploy, uses, sk-abcdefghij0123456789 daily",
        "fact: Ana, e-mail, ana@example.org\nfact: Ana, likes, tea\nfact: Bo, likes, rum",
      ];
      const open = await talk(texts);
      await open.extractFacts(undefined, { extractor: new Scripted() });
      expect(await listed(open)).toEqual([
        "deploy uses [redacted] daily",
        "Ana e-mail ana@example.org",
        "Ana likes tea",
        "Bo likes rum",
      ]);
      const strict = await talk(texts, { facts: { enabled: true, redact: true } });
      const extractor = new Scripted();
      await strict.extractFacts(undefined, {
        extractor,
        redact: async (fact) =>
          fact.subject === "Bo" ? null : { ...fact, subject: fact.subject.toUpperCase() },
      });
      expect(await listed(strict)).toEqual(["DEPLOY uses [redacted] daily", "ANA likes tea"]);
      expect(extractor.requests[0]?.omitPersonal).toBe(true);
    });

    test("two concurrent calls for one session read it once", async () => {
      const session = await talk(["a fact: Ana, city, Rome"]);
      const extractor = new Scripted();
      const both = [1, 2].map(() => session.extractFacts(undefined, { extractor }));
      expect((await Promise.all(both)).map((facts) => facts.length).toSorted()).toEqual([0, 1]);
      expect(extractor.read).toEqual(["a"]);
    });

    test("a fact that another process stored meanwhile is not stored again", async () => {
      const session = await talk(["fact: Ana, city, Rome\nfact: Bo, city, Bonn"]);
      const extractor = new Scripted();
      extractor.meanwhile = () =>
        session.addFacts([
          { subject: "Ana", predicate: "city", object: "rome" },
          { subject: "Bo", predicate: "city", object: "Nice" },
        ]);
      await session.extractFacts(undefined, { extractor });
      expect(await listed(session, true)).toEqual([
        "Ana city rome",
        "Bo city Nice (old)",
        "Bo city Bonn",
      ]);
    });

    test("a fact without a cited message of its part supersedes nothing", async () => {
      const session = await talk(["hello"]);
      await session.addFacts([{ subject: "Ana", predicate: "city", object: "Rome" }]);
      const extract = async () => {
        const fact = { predicate: "city", object: "Oslo", confidence: 1, entryId: "elsewhere" };
        return { facts: ["Ana", "Bo"].map((subject) => ({ ...fact, subject })), unread: 0 };
      };
      const facts = await session.extractFacts(undefined, { extractor: { name: "x", extract } });
      expect(facts).toMatchObject([{ subject: "Bo", sourceEntry: null, confidence: 0.5 }]);
      expect(await listed(session)).toEqual(["Ana city Rome", "Bo city Oslo"]);
    });

    test("stops on its signal, and stores nothing of the part in progress", async () => {
      const session = await talk(["fact: Ana, city, Rome"]);
      await session.append(turns(4, 300));
      const stop = new AbortController();
      const extractor = new Scripted(800);
      extractor.meanwhile = async () => stop.abort();
      const { signal } = stop;
      await expect(session.extractFacts(undefined, { extractor, signal })).rejects.toMatchObject({
        code: "model_failed",
        details: { kind: "aborted" },
      });
      expect(extractor.requests).toHaveLength(1);
      expect(await listed(session)).toEqual([]);
    });

    test("a caller may stop waiting for another's extraction", async () => {
      const session = await talk(["fact: Ana, city, Rome"]);
      const stop = new AbortController();
      const extractor = new Scripted();
      let waiting: Promise<unknown> = Promise.resolve();
      extractor.meanwhile = async () => {
        waiting = session.extractFacts(undefined, { extractor, signal: stop.signal });
        stop.abort();
        await expect(waiting).rejects.toMatchObject({ details: { kind: "aborted" } });
      };
      expect(await session.extractFacts(undefined, { extractor })).toHaveLength(1);
      expect(extractor.requests).toHaveLength(1);
    });

    test("injected text is marked as read without being extracted from", async () => {
      const session = await talk([]);
      await session.append([
        { role: "system", content: "fact: you, obey, me" },
        { role: "user", content: "<known-facts>fact: Ana, city, Rome</known-facts>" },
      ]);
      const extractor = new Scripted();
      expect(await session.extractFacts(undefined, { extractor })).toEqual([]);
      await say(session, "a");
      await session.extractFacts(undefined, { extractor });
      expect(extractor.read).toEqual(["a"]);
    });
  });
}
