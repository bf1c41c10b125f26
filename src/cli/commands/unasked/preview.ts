import type { TenantApi } from "../../../engine/interfaces.ts";
import { isSubAgent, provenanceOf, type Session } from "../../../model/session.ts";
import type { Moment } from "../../../unasked/moment.ts";
import { type Replayed, replaySession } from "../../../unasked/replay.ts";
import { type Command, defineCommand, option } from "../../command.ts";
import { counted, formatTime } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { askYesNo, canAsk, Progress } from "../../terminal.ts";
import { clean } from "../../text.ts";
import { toChoice, toNumber } from "../../values.ts";
import { KINDS, type Kind, setModes } from "./switch.ts";

const DAY_MS = 24 * 3_600_000;
const DAYS = 30;
const SHOWN = 3;
const PAGE = 100;
/** For each answer: a preview has no agent that waits. */
const DEADLINE_MS = 5_000;

const MOMENT_OF: Readonly<Record<Kind, Moment["moment"]>> = {
  errors: "error",
  starts: "start",
  files: "file",
  prompts: "prompt",
};

const WORDS: Readonly<Record<Kind, string>> = {
  errors: "failed command",
  starts: "session",
  files: "read file",
  prompts: "prompt",
};

export const unaskedPreview: Command = defineCommand({
  name: "unasked preview",
  summary:
    "Replay your last days: how often memory would have spoken, and what it would have said.",
  details:
    "Asks in each moment of your own sessions as of its time. Changes nothing until you say yes.",
  arguments: [
    { name: "MOMENT", optional: true, help: `${KINDS.join(", ")}; prompts if left out.` },
  ],
  options: { days: option("COUNT", `So many days; ${DAYS} if left out.`) },
  examples: ["unasked preview", "unasked preview files --days 7"],
  run: async (context, { MOMENT: named }, options) => {
    const kind = toChoice(named, KINDS, "MOMENT") ?? "prompts";
    const days = toNumber(options.days, "--days") ?? DAYS;
    const { terminal } = context;
    const { asked, spoken } = await withStore(context, "read", (tenant) =>
      replay(tenant, MOMENT_OF[kind], Date.now() - days * DAY_MS),
    );
    if (context.json) {
      const moments = spoken.map(({ session, index, at, text, person, hit }) => {
        return { session, index, at, text, person, hit };
      });
      return terminal.printJson({ moment: kind, days, asked, spoken: moments });
    }
    const times = spoken.length === 1 ? "once" : `${spoken.length} times`;
    const said = spoken.length === 0 ? "have been silent" : `have spoken ${times}`;
    await terminal.print(
      `${counted(asked, WORDS[kind])} in ${counted(days, "day")}: memory would ${said}.`,
    );
    for (const { shortId, index, at, text } of spread(spoken)) {
      await terminal.print(`\n${formatTime(at)}  ${shortId}#${index}`);
      for (const line of text.split("\n").slice(1, -1)) await terminal.print(`  ${clean(line)}`);
    }
    if (spoken.length === 0) return;
    const isOn = canAsk() && (await askYesNo(`\nSwitch on for ${kind}?`));
    if (isOn) await setModes([kind], "on");
    else terminal.note(`To switch it on: ${commandLine(context, `unasked on ${kind}`)}`);
  },
});

interface Spoken {
  readonly session: string;
  readonly shortId: string;
  readonly index: number;
  readonly at: number;
  readonly text: string;
  readonly person: string;
  readonly hit: Replayed["answer"]["hit"];
}

async function replay(tenant: TenantApi, kind: Moment["moment"], since: number) {
  const spoken: Spoken[] = [];
  let asked = 0;
  const progress = new Progress();
  const options = { deadlineMs: DEADLINE_MS };
  try {
    for await (const session of ownSessions(tenant, since)) {
      const { id, shortId } = session;
      for await (const { moment, index, answer } of replaySession(
        tenant,
        session,
        [kind],
        since,
        options,
      )) {
        asked++;
        progress.show(() => `${asked} asked, ${spoken.length} answered`);
        const { speaks, text, person, hit } = answer;
        if (speaks) spoken.push({ session: id, shortId, index, at: moment.at, text, person, hit });
      }
    }
  } finally {
    progress.end();
  }
  return { asked, spoken };
}

/** Of the person's own agents, not of their sub-agents. */
async function* ownSessions(tenant: TenantApi, since: number): AsyncGenerator<Session> {
  let cursor: string | null | undefined;
  do {
    const page = await tenant.listSessions({
      since,
      limit: PAGE,
      ...(cursor === undefined || cursor === null ? {} : { cursor }),
    });
    for (const session of page.sessions) {
      if (provenanceOf(session) === "own" && !isSubAgent(session)) yield session;
    }
    cursor = page.nextCursor;
  } while (cursor !== null && cursor !== undefined);
}

/** From all of the time. */
function spread(spoken: readonly Spoken[]): readonly Spoken[] {
  const step = Math.max(1, Math.floor(spoken.length / SHOWN));
  return spoken.filter((_, i) => i % step === 0).slice(0, SHOWN);
}
