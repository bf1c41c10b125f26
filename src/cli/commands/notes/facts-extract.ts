import { maskFact } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import type { ExtractedPart } from "../../../engine/facts/extract-facts-options.ts";
import { FACT } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable } from "../../print.ts";
import { withStore } from "../../store.ts";

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
