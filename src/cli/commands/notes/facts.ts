import { maskFact } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import type { ExtractedPart } from "../../../engine/facts/extract-facts-options.ts";
import { defined } from "../../../model/defined.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { FACT, type Fact } from "../../../model/note.ts";
import { type Command, defineCommand, flag, option, SESSION } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { printList } from "../../print-list.ts";
import { withSession, withStore } from "../../store.ts";
import { toInput } from "../input-options.ts";

export const factsList: Command = defineCommand({
  name: "facts list",
  summary: "List facts: statements kept beside the conversations that they were taken from.",
  options: {
    session: option("SESSION", "Only those of this session."),
    superseded: flag("Also superseded facts."),
    limit: option("N", "Facts on a page: at most 500, which is the default."),
    cursor: option("FACT", "Go on after this fact."),
  },
  examples: ["facts list --session 5f0c2a91"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const { session, cursor: after } = options;
      const sessionId =
        session === undefined ? undefined : (await tenant.getSessionMeta(session)).id;
      const { limit = MAX_PAGE, ...which } = toInput("listFacts", { ...options, after });
      const facts = await tenant.listFacts({ limit, ...which, ...defined({ sessionId }) });
      const next = facts.length < limit ? null : (facts.at(-1)?.id ?? null);
      return printList(context, {
        json: { facts: toWire([FACT], facts), next_cursor: next },
        header: ["FACT", "CONFIDENCE", "SUBJECT · PREDICATE · OBJECT"],
        rows: facts.map((fact) => [
          fact.id,
          String(fact.confidence),
          `${fact.subject} · ${fact.predicate} · ${fact.object}${fact.supersededBy === null ? "" : " (superseded)"}`,
        ]),
        none: "No facts.",
        more: next && `facts list --cursor ${next}`,
      });
    }),
});

export const factsSearch: Command = defineCommand({
  name: "facts search",
  summary: "Find current facts, best first. Exits with 1 if none match.",
  details: "Secrets are masked; facts list shows facts as they are.",
  arguments: [{ name: "QUERY", rest: true, help: "What to look for." }],
  options: {
    limit: option("N", "Facts: at most 20, 10 if left out."),
  },
  examples: ["facts search favourite editor"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const facts = (await tenant.searchFacts(QUERY, toInput("searchFacts", options))).map(
        maskFact,
      );
      await printFacts(context, facts, {}, "Nothing found.");
      return facts.length === 0 ? EXIT.nothing : EXIT.ok;
    }),
});

export const factsAdd: Command = defineCommand({
  name: "facts add",
  summary: "Add a fact to a session and print its id.",
  arguments: [
    SESSION,
    { name: "SUBJECT", help: "The person or thing it is about." },
    { name: "PREDICATE", help: "The relation." },
    { name: "OBJECT", help: "The object." },
  ],
  options: {
    source: option("ENTRY", "The entry that it was taken from."),
    confidence: option("N", "From 0 to 1, which is the default."),
  },
  examples: ['facts add 5f0c2a91 "cron job" "is locked by" /var/lock/cron'],
  run: (context, args, options) =>
    withSession(context, "write", args.SESSION, async (handle) => {
      const facts = await handle.addFacts([
        {
          subject: args.SUBJECT,
          predicate: args.PREDICATE,
          object: args.OBJECT,
          ...toInput("addFacts", options),
        },
      ]);
      for (const fact of facts) {
        if (context.json) await context.terminal.printJson(toWire(FACT, fact));
        else await context.terminal.print(fact.id);
      }
    }),
});

export const factsExtract: Command = defineCommand({
  name: "facts extract",
  summary: "Extract facts from unread messages with a language model, and print the new ones.",
  details:
    "The session must enable it: facts.enabled in its metadata. BACKSCROLL_MODEL_URL, BACKSCROLL_MODEL and, if the server wants one, BACKSCROLL_MODEL_KEY name the model.",
  arguments: [SESSION],
  options: {
    through: option("ENTRY", "Only up to this entry."),
  },
  examples: ["facts extract 5f0c2a91 --through 01JZ8Q9D2M"],
  run: (context, args, options) =>
    withSession(context, "write", args.SESSION, async (handle) => {
      const parts: ExtractedPart[] = [];
      const found = await handle.extractFacts(options.through, {
        onPart: (part) => parts.push(part),
      });
      const facts = found.map(maskFact);
      const counts = sum(parts);
      const { terminal } = context;
      await printFacts(context, facts, counts, "No new facts.");
      if (context.json) return;
      if (counts.unread > 0) terminal.note(`${counts.unread} statements could not be understood.`);
      if (counts.withheld > 0) {
        terminal.note(
          `${counts.withheld} statements were withheld: they hold secrets or personal data.`,
        );
      }
    }),
});

/** `others` are further fields of the document. */
function printFacts(
  context: Context,
  facts: readonly Fact[],
  others: object,
  none: string,
): Promise<void> {
  return printList(context, {
    json: { facts: toWire([FACT], facts), ...others },
    header: ["FACT", "SUBJECT", "PREDICATE", "OBJECT"],
    rows: facts.map(({ id, subject, predicate, object }) => [id, subject, predicate, object]),
    none,
  });
}

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
    }),
});
