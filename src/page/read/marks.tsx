/** Marks: what a person said of a message or session that does not hold, and the form to say so. */

import { useSignal } from "@preact/signals";
import { sessionAddress } from "../data/address.ts";
import { type Hit, type Mark, tell } from "../data/connection.ts";
import { Failure } from "../parts/controls.tsx";
import type { SessionModel } from "./session-model.ts";

type Place = NonNullable<Mark["replacedBy"]>;

/** A link to what holds: `#114`, with the session's short id if it is another one. */
function PlaceLink({ place, from }: { readonly place: Place; readonly from: string }) {
  const { sessionId, shortId, entryId, index } = place;
  const message = index === null ? "" : `#${index}`;
  return (
    <a href={sessionAddress(sessionId, { m: entryId ?? "" })}>
      {sessionId === from && message !== "" ? message : `${shortId}${message}`}
    </a>
  );
}

export function MarkNote({ mark, from }: { readonly mark: Mark; readonly from: string }) {
  const { entryId, kind, reason, actor, replacedBy } = mark;
  return (
    <span class="tag mark">
      {entryId === null && "session "}
      {kind}
      {replacedBy !== null && (
        <>
          {" by "}
          <PlaceLink place={replacedBy} from={from} />
        </>
      )}
      {actor !== null && ` (${actor})`}: <span dir="auto">{reason}</span>
    </span>
  );
}

/** Under a hit that no longer holds. */
export function HitNotes({ hit }: { readonly hit: Hit }) {
  const { sessionId, mark, supersededBy } = hit;
  if (mark === undefined && supersededBy === undefined) return null;
  return (
    <p class="hit-notes">
      {mark !== undefined && <MarkNote mark={mark} from={sessionId} />}
      {supersededBy !== undefined && (
        <span class="tag mark">
          said differently later: <PlaceLink place={supersededBy} from={sessionId} />
        </span>
      )}
    </p>
  );
}

export function MarkForm(props: {
  readonly model: SessionModel;
  readonly entryId: string;
  readonly mark: Mark | undefined;
  readonly onDone: () => void;
}) {
  const { model, entryId, mark, onDone } = props;
  const reason = useSignal("");
  const number = useSignal("");
  const failure = useSignal("");
  const act = async (work: Promise<void>) => {
    try {
      failure.value = "";
      await work;
      onDone();
    } catch (error) {
      failure.value = tell(error);
    }
  };
  return (
    <form
      class="form-row"
      aria-label="Mark this message"
      onSubmit={(event) => {
        event.preventDefault();
        const index = number.value === "" ? undefined : Number(number.value);
        void act(model.mark(entryId, reason.value, index));
      }}
    >
      <input
        type="text"
        required
        maxLength={300}
        aria-label="Why it does not hold"
        placeholder="Why it does not hold"
        value={reason.value}
        onInput={(event) => {
          reason.value = event.currentTarget.value;
        }}
      />
      <input
        type="number"
        min={0}
        aria-label="Replaced by the message with this number"
        placeholder="replaced by #"
        value={number.value}
        onInput={(event) => {
          number.value = event.currentTarget.value;
        }}
      />
      <button type="submit">Mark</button>
      {mark !== undefined && (
        <button type="button" class="quiet" onClick={() => void act(model.unmark(entryId))}>
          Take the mark back
        </button>
      )}
      <Failure text={failure.value} alert />
    </form>
  );
}
