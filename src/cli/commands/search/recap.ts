import { maskJson } from "../../../api/mask.ts";
import type { JsonValue } from "../../../model/json.ts";
import { MAX_HITS } from "../../../model/limits.ts";
import { DEFAULT_RECAP_SESSIONS, recapSessions } from "../../../recap/recap.ts";
import { showRecap } from "../../../recap/show-recap.ts";
import { toWireRecap } from "../../../recap/wire/wire-recap.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";
import { given, toCount, toPeriod, toRepo } from "../../values.ts";
import { PROJECT, REPO } from "../project-options.ts";

export const recap: Command = defineCommand({
  name: "recap",
  summary: "Tell what was done: requests, outcomes, files changed, commands run.",
  details:
    "In a period, a project or a session; made without a model. #12 is the number of a message, which show SESSION --offset 12 begins with. Commands that only look at something are left out, and so are sessions of sub-agents. Days count whole at both ends. Secrets are masked. Exits with 1 if nothing was done.",
  arguments: [{ name: "SESSION", optional: true, help: "Only this session, by any of its ids." }],
  options: {
    since: { type: "string", value: "TIME", help: "From then on: yesterday, 7d, 2026-05-04." },
    until: { type: "string", value: "TIME", help: "Up to then; a day counts whole." },
    project: PROJECT,
    repo: REPO,
    agent: { type: "string", value: "NAME", help: "Only this agent's sessions." },
    workstation: { type: "string", value: "ID", help: "Only sessions of this workstation." },
    limit: {
      type: "string",
      value: "N",
      help: `Sessions, the newest: at most ${MAX_HITS}, ${DEFAULT_RECAP_SESSIONS} if left out.`,
    },
    "sub-agents": { type: "boolean", help: "Also sessions of sub-agents, each by itself." },
  },
  examples: ["recap --since yesterday", "recap --project shop --limit 3"],
  run: (context, { SESSION: session }, options) => {
    const { agent, project, workstation } = options;
    const input = given({
      session,
      agent,
      project,
      workstation,
      repo: toRepo(options.repo),
      ...toPeriod(options.since, options.until),
      limit: toCount(options.limit, "--limit"),
      subAgents: options["sub-agents"],
    });
    if (input.limit !== undefined && (input.limit < 1 || input.limit > MAX_HITS)) {
      throw usageError(`--limit must be 1 to ${MAX_HITS}`, "--limit");
    }
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const told = await recapSessions(tenant, input);
      const { sessions, more, subAgents } = told;
      const code = sessions.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWireRecap(told) as unknown as JsonValue));
        return code;
      }
      if (sessions.length === 0) await terminal.print("Nothing was done, as far as it is stored.");
      for (const [i, each] of sessions.entries()) {
        if (i > 0) await terminal.print();
        for (const line of showRecap(each, Date.now()).split("\n")) {
          await terminal.print(clean(line));
        }
      }
      if (more) terminal.note("There are more: --limit, or a shorter period.");
      if (subAgents > 0) {
        terminal.note(`${counted(subAgents, "session")} of sub-agents left out (--sub-agents).`);
      }
      return code;
    });
  },
});
