import { maskJson } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { RELATED } from "../../../model/answers/context.ts";
import type { JsonValue } from "../../../model/json.ts";
import { MAX_HITS } from "../../../model/limits.ts";
import { DEFAULT_RELATED, type Related, relatedSessions } from "../../../recap/related.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { formatHit } from "../../search/print-hit.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";
import { toWorkInput, workOptions } from "./work-options.ts";

const { project, repo, agent, workstation } = workOptions(DEFAULT_RELATED);

export const related: Command = defineCommand({
  name: "related",
  summary: "Find sessions like one, and where the same question was asked before.",
  details:
    "Searches other sessions for the session's title and first requests, and their questions for its first question. With an embedder it compares by meaning; otherwise by words, and the same question is one that contains all of them. Secrets are masked. Exits with 1 if none match.",
  arguments: [{ name: "SESSION", optional: true, help: "By any of its ids." }],
  options: {
    question: { type: "string", value: "TEXT", help: "Instead of a session: the question." },
    project,
    repo,
    agent,
    workstation,
    limit: {
      type: "string",
      value: "N",
      help: `Sessions, and questions: at most ${MAX_HITS} of each, ${DEFAULT_RELATED} if left out.`,
    },
  },
  examples: ["related 5f0c2a91", "related --question 'why does the cron job run twice?'"],
  run: (context, { SESSION: session }, options) => {
    const { question } = options;
    if ((session === undefined) === (question === undefined)) {
      throw usageError("related takes a session, or --question", "--question");
    }
    const input = { ...toWorkInput(options), ...given({ session, question }) };
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const found = await relatedSessions(tenant, input);
      const { sessions, asked, notes } = found;
      const code = sessions.length + asked.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWire(RELATED, found) as unknown as JsonValue));
        return code;
      }
      if (code === EXIT.nothing) await terminal.print("Nothing like it is stored.");
      await printHits(context, "Sessions like it", sessions);
      await printHits(context, "Asked before", asked);
      for (const note of notes) terminal.note(note);
      return code;
    });
  },
});

async function printHits(
  { terminal }: Context,
  heading: string,
  hits: Related["asked"],
): Promise<void> {
  if (hits.length === 0) return;
  await terminal.print(terminal.bold(heading));
  for (const hit of hits) {
    for (const line of formatHit(hit, terminal, { before: 0, after: 0 })) {
      await terminal.print(`  ${line}`);
    }
  }
}
