/** Finds words in the open session and steps through the matches. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { tell } from "../data/connection.ts";
import { Latest } from "../data/latest.ts";
import type { Hit } from "../data/types.ts";
import type { SessionModel } from "./session-model.ts";

const HITS = 20;

export function FindInSession(props: {
  readonly model: SessionModel;
  readonly onJump: (entryId: string, index: number) => void;
}) {
  const { model, onJump } = props;
  const latest = useRef(new Latest());
  const hits = useSignal<readonly Hit[] | undefined>(undefined);
  const at = useSignal(0);
  const failure = useSignal("");
  const step = (to: number) => {
    const count = hits.value?.length ?? 0;
    if (count === 0) return;
    at.value = (to + count) % count;
    const hit = hits.value?.[at.value];
    if (hit?.entryId != null && hit.index !== null) onJump(hit.entryId, hit.index);
  };
  const look = async (query: string) => {
    failure.value = "";
    if (query.trim() === "") {
      latest.current.stop();
      hits.value = undefined;
      return;
    }
    try {
      const result = await latest.current.run((signal) =>
        model.engine.searchSessions(query, {
          session: model.session.peek()?.id ?? model.id,
          perSession: HITS,
          limit: HITS,
          contextBefore: 0,
          contextAfter: 0,
          asYouType: true,
          branches: model.leaf === undefined ? "active" : "all",
          signal,
        }),
      );
      if (result === undefined) return;
      hits.value = result.hits
        .filter(({ index }) => index !== null)
        .toSorted((one, other) => (one.index ?? 0) - (other.index ?? 0));
      step(0);
    } catch (error) {
      failure.value = tell(error);
    }
  };
  return (
    <search class="find-in">
      <input
        id="find-in"
        type="search"
        placeholder="Find in session"
        aria-label="Find in session"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => void look(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          step(at.value + (event.shiftKey ? -1 : 1));
        }}
      />
      {hits.value !== undefined && (
        <span class="about" aria-live="polite">
          {hits.value.length === 0
            ? "not found"
            : `${at.value + 1} of ${hits.value.length === HITS ? `the best ${HITS}` : hits.value.length}`}
        </span>
      )}
      {failure.value !== "" && <span class="failure">{failure.value}</span>}
    </search>
  );
}
