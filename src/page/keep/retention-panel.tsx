/** The retention and time to live of a session, changed after a confirmation. */

import { useSignal } from "@preact/signals";
import type { RemoteEngine } from "../../client/index.ts";
import { tell } from "../data/connection.ts";
import type { Session } from "../data/types.ts";
import { ask } from "../parts/question.tsx";
import { counted } from "../parts/words.ts";

const RETENTIONS: readonly {
  readonly name: Session["retention"];
  readonly words: string;
  readonly means: string;
}[] = [
  { name: "full", words: "everything", means: "Nothing is erased." },
  {
    name: "audit-only",
    words: "metadata only",
    means: "The content of covered messages is erased permanently; author, time and usage remain.",
  },
  {
    name: "ephemeral",
    words: "tombstones",
    means:
      "Covered messages are erased permanently, with author and usage; position and hashes remain.",
  },
];

const DAY_S = 86_400;
const ENDS = [0, 1, 7, 30, 90, 365];

export function RetentionPanel(props: {
  readonly engine: RemoteEngine;
  readonly session: Session;
}) {
  const { engine, session } = props;
  const retention = useSignal(session.retention);
  const days = useSignal(session.ttl === null ? 0 : session.ttl / DAY_S);
  const said = useSignal("");
  const failure = useSignal("");
  const ends = ENDS.includes(days.value) ? ENDS : [...ENDS, days.value];
  const isChanged =
    retention.value !== session.retention ||
    days.value !== (session.ttl === null ? 0 : session.ttl / DAY_S);
  const save = async () => {
    const { means } = RETENTIONS.find(({ name }) => name === retention.value) ?? { means: "" };
    const end =
      days.value === 0
        ? "The session is not deleted automatically."
        : `The session is deleted ${counted(days.value, "day")} after its last message.`;
    if (!(await ask("Change the retention?", `${means} ${end}`, "Change"))) return;
    try {
      failure.value = "";
      const handle = engine.session(session.id);
      const ttl = days.value === 0 ? null : days.value * DAY_S;
      await handle.update({ retention: retention.value, ttl });
      const { erased } = await handle.applyRetention();
      said.value = `Changed. ${counted(erased, "message")} erased.`;
    } catch (error) {
      failure.value = tell(error);
    }
  };
  return (
    <fieldset class="panel-pop" aria-label="Retention">
      <h2>Retention</h2>
      <p class="about">After a compaction, a summary stands for the older messages.</p>
      <div class="form-row">
        <label for="retention">Of those, keep</label>
        <select
          id="retention"
          value={retention.value}
          onChange={(event) => {
            const { value } = event.currentTarget;
            retention.value = RETENTIONS.find(({ name }) => name === value)?.name ?? "full";
          }}
        >
          {RETENTIONS.map(({ name, words }) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <div class="form-row">
        <label for="ttl">Delete the session</label>
        <select
          id="ttl"
          value={days.value}
          onChange={(event) => {
            days.value = Number(event.currentTarget.value);
          }}
        >
          {ends.map((end) => (
            <option key={end} value={end}>
              {end === 0 ? "never" : `${counted(end, "day")} after its last message`}
            </option>
          ))}
        </select>
      </div>
      <button type="button" class="main" disabled={!isChanged} onClick={() => void save()}>
        Change …
      </button>
      <p aria-live="polite">{said.value}</p>
      {failure.value !== "" && <p class="failure">{failure.value}</p>}
    </fieldset>
  );
}
