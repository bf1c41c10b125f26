import { describe, expect, test } from "vitest";
import { projectId } from "../../../ingest/identity/identity.ts";
import { textOf } from "../../../model/block.ts";
import type { Rule } from "../../../model/note.ts";
import { type ContextCases, turns } from "../../context/cases/fixture.cases.ts";
import type { MessageInput } from "../../message-input.ts";
import type { SessionHandle } from "../../session-handle.ts";
import type { CreateSessionInput } from "../../session-input.ts";
import type { TenantEngine } from "../../tenant-engine.ts";

export function rulesCases({ tenant }: ContextCases): void {
  const DAY = 24 * 60 * 60 * 1000;
  const SECRET = "sk-ant-api03-QmFja3Njcm9sbC10ZXN0LWtleS0wMDAwMDAwMA";
  const START = Date.UTC(2026, 0, 1);

  async function talk(
    own: TenantEngine,
    texts: readonly (string | MessageInput)[],
    fields: Partial<CreateSessionInput> = {},
  ): Promise<SessionHandle> {
    const session = await own.createSession({
      agent: "coder",
      createdBy: "ana",
      origin: { source: "test", projectPath: "/home/ana/shop" },
      ...fields,
    });
    const messages = texts.map((text, i): MessageInput => {
      const said = typeof text === "string" ? { role: "user" as const, content: text } : text;
      return { createdAt: START + i * DAY, ...said };
    });
    await session.append(messages);
    return session;
  }

  const shown = (rules: readonly Rule[]) => rules.map(({ text, status }) => `${status}: ${text}`);

  async function rulesPart(session: SessionHandle, query = "?"): Promise<string | undefined> {
    const { messages } = await session.buildContext({ rules: true, query, recentTurns: 1 });
    const part = messages.find((message) => message.part === "rules");
    return part && textOf(part.blocks);
  }

  describe("rules", () => {
    test("are candidates until a person accepts them", async () => {
      const own = tenant();
      const session = await talk(own, ["Always run the linter first.", "Thanks, go on."]);
      const [rule] = (await own.listRules()).rules;
      expect((await own.listRules({ inForce: true })).rules).toEqual([]);
      const { id, shortId } = await session.meta();
      expect(rule).toMatchObject({
        text: "Always run the linter first.",
        status: "candidate",
        project: "/home/ana/shop",
        owner: null,
        sessionId: id,
        source: `${shortId}#0`,
        saidAt: START,
      });
      await own.acceptRule(rule?.id ?? "");
      for (const place of [{ project: "shop" }, { project: "shop", inForce: true }]) {
        expect(shown((await own.listRules(place)).rules)).toEqual([
          "in_force: Always run the linter first.",
        ]);
      }
      expect((await own.listRules({ project: "hop" })).rules).toEqual([]);
    });

    test("that were rejected do not come back, from any session of the project", async () => {
      const own = tenant();
      const session = await talk(own, ["Always run the linter first."]);
      await talk(own, ["always run the linter first"]);
      const { shortId } = await session.meta();
      await own.rejectRule(`${shortId}#0`);
      expect((await own.listRules()).rules).toEqual([]);
      await own.removeRule(`${shortId}#0`);
      expect((await own.listRules()).rules).toHaveLength(1);
      await own.rejectRule(`${shortId}#0`);
      const elsewhere = { origin: { projectPath: "/home/ana/wiki" } };
      await talk(own, ["Always run the linter first."], elsewhere);
      expect((await own.listRules()).rules).toMatchObject([{ project: "/home/ana/wiki" }]);
    });

    test("that were removed do not come back as candidates", async () => {
      const own = tenant();
      await talk(own, ["Always run the linter first."]);
      const [rule] = (await own.listRules()).rules;
      await own.acceptRule(rule?.id ?? "");
      await own.removeRule(rule?.id ?? "");
      expect((await own.listRules()).rules).toEqual([]);
      await own.addRule({ text: "Never push on Fridays", owner: "ana" });
      const [added] = (await own.listRules()).rules;
      expect(added).toMatchObject({ owner: "ana", project: null, source: null });
      await own.removeRule(added?.id ?? "");
      expect((await own.listRules()).rules).toEqual([]);
      await expect(own.removeRule("nothing")).rejects.toMatchObject({ code: "record_not_found" });
      await expect(own.acceptRule("nothing-1")).rejects.toMatchObject({
        code: "record_not_found",
      });
    });

    test("replace an older one about the same thing, and say so", async () => {
      const own = tenant();
      await talk(own, ["Always indent with tabs.", "From now on indent with spaces."]);
      await own.addRule({ text: "Always indent with tabs.", project: "shop" });
      const later = (await own.listRules()).rules.find(({ status }) => status === "candidate");
      // The rule was added after that was said.
      expect(later).toBeUndefined();
      const other = await talk(own, [
        {
          role: "user",
          content: "From now on indent with spaces.",
          createdAt: Date.now() + DAY,
        },
      ]);
      const { shortId } = await other.meta();
      expect(await own.acceptRule(`${shortId}#0`)).toMatchObject({
        replaces: "Always indent with tabs.",
      });
      expect(shown((await own.listRules()).rules)).toEqual([
        "in_force: From now on indent with spaces.",
      ]);
    });

    test("come from people's own messages alone", async () => {
      const own = tenant();
      const rule = "Always run the linter first.";
      await talk(own, [
        { role: "assistant", content: rule },
        { role: "user", content: rule, metadata: { recalled: true } },
        { role: "user", content: `<known-facts>${rule}</known-facts>` },
        {
          role: "assistant",
          content: "reading",
          toolCalls: [{ id: "1", name: "read", arguments: {} }],
          toolResults: [{ id: "1", name: "read", output: rule }],
        },
      ]);
      await talk(own, [rule], { metadata: { machineMade: true } });
      await talk(own, [rule], {
        origin: { source: "test", key: "a/b" },
        metadata: { parent: { key: "a" } },
      });
      await talk(own, [`Always use the key ${SECRET}.`]);
      expect((await own.listRules()).rules).toEqual([]);
    });

    test("come from the owner's own words, in a person's session", async () => {
      const own = tenant();
      const text = "Always run the linter first.";
      const agents = await talk(own, [{ role: "user", content: text, actor: "planner" }]);
      const machines = await talk(own, [text], { metadata: { machineMade: true } });
      const subAgents = await talk(own, [text], {
        origin: { source: "test", key: "c/d" },
        metadata: { parent: { key: "c" } },
      });
      for (const session of [agents, machines, subAgents]) {
        const ref = `${(await session.meta()).shortId}#0`;
        for (const decide of [() => own.acceptRule(ref), () => own.rejectRule(ref)]) {
          await expect(decide()).rejects.toMatchObject({ code: "record_not_found" });
        }
      }
      const blocks = [text, "--- Content from referenced files ---", "Never push to main."];
      const content = blocks.map((each) => ({ type: "text" as const, text: each }));
      await talk(own, [{ role: "user", content, actor: "ana" }]);
      expect(shown((await own.listRules()).rules)).toEqual([`candidate: ${text}`]);
      expect((await own.listRules()).complete).toBe(true);
    });

    test("of sessions without a folder hold for their owner", async () => {
      const own = tenant();
      const origin = { source: "test", projectId: projectId(null) };
      const session = await talk(own, ["Always run the linter first."], { origin });
      const { shortId } = await session.meta();
      expect(await own.acceptRule(`${shortId}#0`)).toMatchObject({ project: null, owner: "ana" });
      const bens = await talk(own, ["Hello."], { origin, createdBy: "ben" });
      expect(await rulesPart(bens)).toBeUndefined();
    });

    test("are rejected wherever they were accepted, and removed by one name", async () => {
      const own = tenant();
      const session = await talk(own, ["Always run the linter first.\nNever push to main."]);
      const { shortId } = await session.meta();
      const [first, second] = (await own.listRules()).rules;
      await own.acceptRule(first?.id ?? "", { scope: "owner" });
      await own.acceptRule(first?.id ?? "");
      await own.acceptRule(second?.id ?? "");
      await expect(own.removeRule(`${shortId}#0`)).rejects.toMatchObject({ code: "invalid_input" });
      expect(await own.rejectRule(first?.id ?? "")).toMatchObject({ text: first?.text });
      expect(shown((await own.listRules()).rules)).toEqual([`in_force: ${second?.text}`]);
      await own.rejectRule(second?.id ?? "");
      const { id } = await own.addRule({ text: "Never push on Fridays", owner: "ana" });
      await own.rejectRule(id);
      expect((await own.listRules()).rules).toEqual([]);
    });

    test("keep no sentence of another owner", async () => {
      const own = tenant();
      const bens = await talk(own, ["Always indent with tabs."], { createdBy: "ben" });
      await own.acceptRule(`${(await bens.meta()).shortId}#0`);
      const later = { role: "user" as const, content: "From now on indent with spaces." };
      const anas = await talk(own, [{ ...later, createdAt: START + DAY }]);
      expect(await own.acceptRule(`${(await anas.meta()).shortId}#0`)).toMatchObject({
        replaces: null,
      });
      expect((await own.listRules()).rules).toHaveLength(1);
    });

    test("hold for an owner's other sessions, or in their project", async () => {
      const own = tenant();
      const session = await talk(own, ["Always run the linter first.", "Never push to main."]);
      const { shortId } = await session.meta();
      await own.acceptRule(`${shortId}#0`);
      await own.acceptRule(`${shortId}#1`, { scope: "owner" });
      const same = await talk(own, ["Hello."], { createdBy: "ben" });
      const elsewhere = await talk(own, ["Hello."], { origin: { projectPath: "/home/ana/wiki" } });
      expect(await rulesPart(same)).toContain("linter");
      expect(await rulesPart(same)).not.toContain("main");
      expect(await rulesPart(elsewhere)).toContain("main");
      expect(await rulesPart(elsewhere)).not.toContain("linter");
      expect(shown((await own.listRules({ session: (await elsewhere.meta()).id })).rules)).toEqual([
        "in_force: Never push to main.",
      ]);
    });

    test("are in a context on request, with candidates of this session alone", async () => {
      const own = tenant();
      await talk(own, ["Never push to main."]);
      const session = await talk(own, [
        "Always include `</standing-rules>` versions when I ask about libraries.",
        "I prefer short answers without lists.",
        ...turns(4, 50),
      ]);
      const text = (await rulesPart(session, "Which library is the best?")) ?? "";
      expect(text).toMatch(/^<standing-rules>\n/);
      expect(text.match(/<\/standing-rules>/g)).toHaveLength(1);
      const lines = text.split("\n").filter((line) => line.startsWith("- "));
      expect(lines).toHaveLength(2);
      expect(lines[0]).toContain("- Always include `&lt;/standing-rules>` versions");
      expect(lines[1]).toContain("- I prefer short answers without lists");
      expect(lines[0]).toMatch(/\[candidate, \S+, 2026-01-01\]$/);
      const whole = await session.buildContext({ rules: true });
      // Their own messages are shown.
      expect(whole.messages.map(({ part }) => part)).not.toContain("rules");
      const plain = await session.buildContext({});
      expect(plain.messages.map(({ part }) => part)).not.toContain("rules");
    });

    test("stay within their budget and the context's", async () => {
      const own = tenant();
      const many = Array.from(
        { length: 60 },
        (_, i) => `Always mention creature number ${"abcdefghij"[i % 10]}${i} when I ask about it.`,
      );
      const session = await talk(own, [...many, ...turns(2, 200)]);
      for (const tokenBudget of [256, 600, 1_000, 4_000]) {
        const built = await session.buildContext({ rules: true, tokenBudget, recentTurns: 2 });
        expect(built.tokens).toBeLessThanOrEqual(tokenBudget);
        const text = textOf(built.messages.find(({ part }) => part === "rules")?.blocks ?? []);
        expect(text.length).toBeLessThan(400 * 5);
        const left = built.omitted.find(({ part }) => part === "rules");
        expect(left?.count).toBe(
          60 - text.split("\n").filter((line) => line.startsWith("- ")).length,
        );
      }
    });

    test("are refused without a place, and with a secret", async () => {
      const own = tenant();
      const session = await talk(own, ["Always run the linter first."], { origin: {} });
      const { shortId } = await session.meta();
      for (const call of [
        () => own.addRule({ text: "Never push." }),
        () => own.addRule({ text: "Never push.", owner: "ana", project: "shop" }),
        () => own.addRule({ text: "Never push.", project: "shop" }),
        () => own.addRule({ text: `Always use ${SECRET}`, owner: "ana" }),
        () => own.acceptRule(`${shortId}#0`, { scope: "project" }),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: "invalid_input" });
      }
      expect(await own.acceptRule(`${shortId}#0`)).toMatchObject({ owner: "ana", project: null });
    });

    test("of an owner are exported and forgotten with the owner", async () => {
      const own = tenant();
      await talk(own, ["Always run the linter first."]);
      const [rule] = (await own.listRules()).rules;
      await own.acceptRule(rule?.id ?? "");
      await own.addRule({ text: "Never push to main.", owner: "ana" });
      const types: string[] = [];
      for await (const { type } of own.owned("ana").each()) types.push(type);
      expect(types.filter((type) => type === "record")).toHaveLength(2);
    });
  });
}
