/** What a session was: what was asked, how it ended, what it changed, what it cost. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { outcomeWords } from "../../model/display.ts";
import { format } from "../data/address.ts";
import type { Session } from "../data/connection.ts";
import { hasTwoPanes } from "../parts/media.ts";
import { distinctEnds, dollars, short } from "../parts/words.ts";
import type { SessionModel } from "./session-model.ts";
import { filesOf, lineCounts } from "./session-outline.ts";

/** Files and commits that are named before the reader asks for all. */
const NAMED = 5;

export function SessionGist(props: {
  readonly model: SessionModel;
  readonly session: Session;
  readonly onIndex: (index: number) => void;
}) {
  const { model, session, onIndex } = props;
  const outcome = useSignal("");
  useEffect(() => {
    model.engine.listSessions({ session: session.id, outcomes: true }).then(
      ({ outcomes }) => {
        const ended = outcomes?.get(session.id);
        outcome.value = ended === undefined ? "" : outcomeWords(ended);
      },
      () => undefined,
    );
  }, [session.id, session.entryCount]);
  const outline = model.outline.value.value;
  const [asked] = outline?.turns ?? [];
  const files = filesOf(outline?.calls ?? []);
  const names = distinctEnds(files.map(({ path }) => path));
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = session.tokens;
  const cost = model.cost.value;
  const isUsed = inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens > 0;
  const jump = (index: number, text: string) => (
    <button type="button" class="link" dir="auto" onClick={() => onIndex(index)}>
      {text}
    </button>
  );
  return (
    <details class="gist" open={hasTwoPanes.value}>
      <summary>{outcome.value === "" ? "What it was" : outcome.value}</summary>
      <dl>
        {asked !== undefined && (
          <div>
            <dt>Asked</dt>
            <dd>{jump(asked.index, asked.text)}</dd>
          </div>
        )}
        {outcome.value !== "" && (
          <div>
            <dt>Outcome</dt>
            <dd>{outcome.value}</dd>
          </div>
        )}
        {files.length > 0 && (
          <div>
            <dt>Changed</dt>
            <dd>
              <Some
                items={files}
                show={(file) => (
                  <span title={file.path}>
                    {jump(file.index, names.get(file.path) ?? file.path)} {lineCounts(file)}
                  </span>
                )}
              />
            </dd>
          </div>
        )}
        {outline !== undefined && outline.commits.length > 0 && (
          <div>
            <dt>Commits</dt>
            <dd>
              <Some
                items={outline.commits}
                show={({ index, hash, subject }) => (
                  <span>
                    {jump(index, hash)} <bdi>{subject}</bdi>{" "}
                    <a href={format("find", "", { q: hash })}>its sessions</a>
                  </span>
                )}
              />
            </dd>
          </div>
        )}
        {isUsed && (
          <div>
            <dt>Cost</dt>
            <dd>
              {cost > 0 && `${dollars(cost)} by list prices, without sub-agents · `}
              {short(inputTokens)} in, {short(outputTokens)} out, {short(cacheCreationTokens)}{" "}
              written to caches, {short(cacheReadTokens)} read from caches
            </dd>
          </div>
        )}
      </dl>
    </details>
  );
}

/** The first of some items, and the others on request. */
function Some<Item>(props: {
  readonly items: readonly Item[];
  readonly show: (item: Item) => ComponentChildren;
}) {
  const { items, show } = props;
  const isWhole = useSignal(false);
  const shown = isWhole.value ? items : items.slice(0, NAMED);
  return (
    <>
      {shown.map((item, at) => (
        <span key={at} class="item">
          {show(item)}
        </span>
      ))}
      {shown.length < items.length && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          {items.length - shown.length} more
        </button>
      )}
    </>
  );
}
