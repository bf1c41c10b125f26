/** The form that marks a message as wrong, or as replaced by another. */

import { useSignal } from "@preact/signals";
import { type Mark, tell } from "../data/connection.ts";
import { Failure } from "../parts/controls.tsx";
import type { SessionModel } from "./session-model.ts";

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
