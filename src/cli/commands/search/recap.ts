import { maskJson } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { RECAP } from "../../../model/answers/context.ts";
import type { JsonValue } from "../../../model/json.ts";
import { DEFAULT_RECAP_SESSIONS, recapSessions } from "../../../recap/recap.ts";
import { showRecap } from "../../../recap/show-recap.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";
import { printParts, toWorkInput, workOptions } from "./work-options.ts";

export const recap: Command = defineCommand({
  name: "recap",
  summary: "List what was done: requests, outcomes, files changed, commands run.",
  details:
    "Covers a period, a project or a session, and needs no model. #12 is a message's number: show SESSION --offset 12 begins there. Read-only commands and sessions of sub-agents are left out. Both days of a period are included. Secrets are masked. Exits with 1 if nothing was done.",
  arguments: [{ name: "SESSION", optional: true, help: "Only this session, by any of its ids." }],
  options: {
    ...workOptions(DEFAULT_RECAP_SESSIONS),
    "sub-agents": { type: "boolean", help: "Also sessions of sub-agents, separately." },
  },
  examples: ["recap --since yesterday", "recap --project shop --limit 3"],
  run: (context, { SESSION: session }, options) => {
    const input = {
      ...toWorkInput(options),
      ...given({ session, subAgents: options["sub-agents"] }),
    };
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const told = await recapSessions(tenant, input);
      const { sessions, more, subAgents } = told;
      const code = sessions.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWire(RECAP, told) as unknown as JsonValue));
        return code;
      }
      if (sessions.length === 0) await terminal.print("No stored session matches.");
      await printParts(
        terminal,
        sessions.map((each) => showRecap(each, Date.now())),
      );
      if (more) terminal.note("There are more: --limit, or a shorter period.");
      if (subAgents > 0) {
        terminal.note(`${counted(subAgents, "session")} of sub-agents left out (--sub-agents).`);
      }
      return code;
    });
  },
});
