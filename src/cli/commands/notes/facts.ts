import { maskFact } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import type { ExtractedPart } from "../../../engine/facts/extract-facts-options.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { FACT } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toCount, toNumber } from "../../values.ts";

export const factsList: Command = defineCommand({
  name: "facts list",
  summary: "List facts: statements kept beside the conversations that they were taken from.",
  options: {
    session: { type: "string", value: "SESSION", help: "Only those of this session." },
    superseded: { type: "boolean", help: "Also superseded facts." },
    limit: {
      type: "string",
      value: "N",
      help: "Facts on a page: at most 500, which is the default.",
    },
    cursor: { type: "string", value: "FACT", help: "Go on after this fact." },
  },
  examples: ["facts list --session 5f0c2a91"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const { session, superseded, cursor } = options;
      const sessionId =
        session === undefined ? undefined : (await tenant.getSessionMeta(session)).id;
      const limit = toCount(options.limit, "--limit") ?? MAX_PAGE;
      const facts = await tenant.listFacts({
        limit,
        ...given({ sessionId, after: cursor, superseded }),
      });
      const next = facts.length < limit ? null : (facts.at(-1)?.id ?? null);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          facts: toWire([FACT], facts),
          next_cursor: next,
        });
        return EXIT.ok;
      }
      if (facts.length === 0) {
        await terminal.print("No facts.");
        return EXIT.ok;
      }
      const rows = facts.map((fact) => [
        fact.id,
        String(fact.confidence),
        `${fact.subject} · ${fact.predicate} · ${fact.object}${fact.supersededBy === null ? "" : " (superseded)"}`,
      ]);
      const header = ["FACT", "CONFIDENCE", "SUBJECT · PREDICATE · OBJECT"];
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      if (next !== null)
        terminal.note(`More: ${commandLine(context, `facts list --cursor ${next}`)}`);
      return EXIT.ok;
    }),
});

export const factsSearch: Command = defineCommand({
  name: "facts search",
  summary: "Find current facts, best first. Exits with 1 if none match.",
  details: "Secrets are masked; facts list shows facts as they are.",
  arguments: [{ name: "QUERY", rest: true, help: "What to look for." }],
  options: {
    limit: { type: "string", value: "N", help: "Facts: at most 20, 10 if left out." },
  },
  examples: ["facts search favourite editor"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit");
      const facts = (await tenant.searchFacts(QUERY, given({ limit }))).map(maskFact);
      const { terminal } = context;
      if (context.json) await terminal.printJson({ facts: toWire([FACT], facts) });
      else if (facts.length === 0) await terminal.print("Nothing found.");
      else {
        const rows = facts.map(({ id, subject, predicate, object }) => [
          id,
          subject,
          predicate,
          object,
        ]);
        const header = ["FACT", "SUBJECT", "PREDICATE", "OBJECT"];
        for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      }
      return facts.length === 0 ? EXIT.nothing : EXIT.ok;
    }),
});

export const factsAdd: Command = defineCommand({
  name: "facts add",
  summary: "Add a fact to a session and print its id.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "SUBJECT", help: "The person or thing it is about." },
    { name: "PREDICATE", help: "The relation." },
    { name: "OBJECT", help: "The object." },
  ],
  options: {
    source: { type: "string", value: "ENTRY", help: "The entry that it was taken from." },
    confidence: { type: "string", value: "N", help: "From 0 to 1, which is the default." },
  },
  examples: ['facts add 5f0c2a91 "cron job" "is locked by" /var/lock/cron'],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const facts = await handle.addFacts([
        {
          subject: args.SUBJECT,
          predicate: args.PREDICATE,
          object: args.OBJECT,
          ...given({ sourceEntry: options.source }),
          ...given({ confidence: toNumber(options.confidence, "--confidence") }),
        },
      ]);
      for (const fact of facts) {
        if (context.json) await context.terminal.printJson(toWire(FACT, fact));
        else await context.terminal.print(fact.id);
      }
      return EXIT.ok;
    }),
});

export const factsExtract: Command = defineCommand({
  name: "facts extract",
  summary: "Extract facts from unread messages with a language model, and print the new ones.",
  details:
    "The session must enable it: facts.enabled in its metadata. BACKSCROLL_MODEL_URL, BACKSCROLL_MODEL and, if the server wants one, BACKSCROLL_MODEL_KEY name the model.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    through: { type: "string", value: "ENTRY", help: "Only up to this entry." },
  },
  examples: ["facts extract 5f0c2a91 --through 01JZ8Q9D2M"],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const parts: ExtractedPart[] = [];
      const found = await handle.extractFacts(options.through, {
        onPart: (part) => parts.push(part),
      });
      const facts = found.map(maskFact);
      const counts = sum(parts);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({ facts: toWire([FACT], facts), ...counts });
        return EXIT.ok;
      }
      if (facts.length === 0) await terminal.print("No new facts.");
      else {
        const rows = facts.map(({ id, subject, predicate, object }) => [
          id,
          subject,
          predicate,
          object,
        ]);
        const header = ["FACT", "SUBJECT", "PREDICATE", "OBJECT"];
        for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      }
      if (counts.unread > 0) terminal.note(`${counts.unread} statements could not be understood.`);
      if (counts.withheld > 0) {
        terminal.note(
          `${counts.withheld} statements were withheld: they hold secrets or personal data.`,
        );
      }
      return EXIT.ok;
    }),
});

type Counts = Pick<
  ExtractedPart,
  "messages" | "duplicates" | "withheld" | "unsupported" | "unread"
>;

function sum(parts: readonly ExtractedPart[]): Counts {
  const total = (name: keyof Counts) => parts.reduce((count, part) => count + part[name], 0);
  return {
    messages: total("messages"),
    duplicates: total("duplicates"),
    withheld: total("withheld"),
    unsupported: total("unsupported"),
    unread: total("unread"),
  };
}

export const factsDelete: Command = defineCommand({
  name: "facts delete",
  summary: "Delete a fact.",
  arguments: [{ name: "FACT", help: "The fact's id." }],
  examples: ["facts delete 01JZ8R0C5T"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      await tenant.deleteFact(args.FACT);
      if (context.json) await context.terminal.printJson({ deleted: { fact: args.FACT } });
      return EXIT.ok;
    }),
});
