/** The map of a session: what was asked, in order, with what was done for it; where the reader is and was. */

import { useEffect, useRef } from "preact/hooks";
import { clock, counted, day } from "../parts/words.ts";
import type { SessionModel } from "./session-model.ts";
import { type Call, callsIn, lineCounts, type Outline } from "./session-outline.ts";

/** Ticks of one turn; a turn has hundreds of calls. */
const MAX_TICKS = 24;

export function SessionMap(props: {
  readonly model: SessionModel;
  /** The first message in view. */
  readonly at: number;
  readonly onIndex: (index: number) => void;
}) {
  const { model, at, onIndex } = props;
  const place = useRef<HTMLElement>(null);
  const outline = model.outline.value.value;
  const turns = outline?.turns ?? [];
  const current = Math.max(
    0,
    turns.findLastIndex(({ index }) => index <= at),
  );
  useEffect(() => {
    const list = place.current;
    const shown = list?.querySelector<HTMLElement>("[aria-current]");
    if (list === null || shown == null) return;
    // `scrollIntoView` would scroll the page, too.
    const top = shown.offsetTop - list.clientHeight / 2;
    if (Math.abs(top - list.scrollTop) > list.clientHeight / 3) list.scrollTop = top;
  }, [current, turns.length]);
  if (outline === undefined || turns.length === 0) return <nav class="map" aria-label="Map" />;
  const { lastSeen } = model;
  return (
    <nav class="map" aria-label="Map of the session" ref={place}>
      <ol>
        {turns.map((turn, order) => {
          const end = turns[order + 1]?.index ?? outline.end;
          const before = turns[order - 1];
          const isNewDay = before === undefined || day(before.at) !== day(turn.at);
          return (
            <li key={turn.index}>
              {isNewDay && <p class="about">{day(turn.at)}</p>}
              <button
                type="button"
                aria-current={order === current ? "true" : undefined}
                onClick={() => onIndex(turn.index)}
              >
                <time>{clock(turn.at)}</time>
                <span dir="auto">{turn.text}</span>
                <Done outline={outline} model={model} first={turn.index} last={end - 1} />
              </button>
              {lastSeen > turn.index && lastSeen <= end && lastSeen < outline.total - 1 && (
                <button type="button" class="last-seen" onClick={() => onIndex(lastSeen)}>
                  Last seen here: #{lastSeen}
                </button>
              )}
            </li>
          );
        })}
      </ol>
      {outline.end < outline.total && (
        <button type="button" onClick={() => void model.outline.readAll()}>
          Map the other {counted(outline.total - outline.end, "message")}
        </button>
      )}
    </nav>
  );
}

/** What was done for a prompt: a tick for each edit and failure, and their sums. */
function Done(props: {
  readonly outline: Outline;
  readonly model: SessionModel;
  readonly first: number;
  readonly last: number;
}) {
  const { outline, model, first, last } = props;
  const calls = callsIn(outline, first, last);
  const told = calls.filter(({ kind, failed }) => kind === "edit" || failed);
  const compactions = [...model.compactions.value.keys()].filter(
    (index) => index >= first && index <= last,
  ).length;
  const words = summary(told, compactions);
  if (words === "") return null;
  return (
    <small>
      <span class="ticks" aria-hidden="true">
        {told.slice(0, MAX_TICKS).map(({ index, failed }, order) => (
          <i key={`${index} ${order}`} class={failed ? "failed" : ""} />
        ))}
      </span>
      {words}
    </small>
  );
}

function summary(calls: readonly Call[], compactions: number): string {
  const failed = calls.filter((call) => call.failed).length;
  const sum = (field: "added" | "removed") => calls.reduce((total, call) => total + call[field], 0);
  return [
    lineCounts({ added: sum("added"), removed: sum("removed") }),
    failed > 0 ? `${failed} failed` : "",
    compactions > 0 ? "compacted" : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
