/** Rows of the search view: the newest sessions, and hits. */

import { headOf, projectName } from "../../model/display.ts";
import { sessionAddress } from "../data/address.ts";
import type { Hit, Session, WindowItem } from "../data/connection.ts";
import { HitNotes } from "../parts/marks.tsx";
import { age, counted, mainArgument, moment, short } from "../parts/words.ts";
import { excerpt, plainLine } from "./excerpt.ts";
import { chosenFilters } from "./filters.ts";
import { found, known, showsAll } from "./search.ts";
import { listed, loadMore } from "./session-list.ts";

export function SessionList({ filtered }: { readonly filtered: boolean }) {
  const { sessions, nextCursor, failure, ready } = listed.value;
  if (failure !== "") return <p class="failure">{failure}</p>;
  if (!ready) return <p class="empty" aria-busy="true" />;
  if (sessions.length === 0) return filtered ? <NoneLeft /> : <EmptyStore />;
  return (
    <section aria-label="Newest sessions">
      <ol class="sessions">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ol>
      {nextCursor !== undefined && (
        <button type="button" class="more" onClick={() => void loadMore()}>
          Show more
        </button>
      )}
    </section>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const { id, title, agent, lastInteractionAt, messageCount, tokens } = session;
  // Without cache reads, which repeat with each call; the head of the session counts the same.
  const total = tokens.inputTokens + tokens.outputTokens + tokens.cacheCreationTokens;
  return (
    <li>
      <a class="session" href={sessionAddress(id)} data-item>
        <b dir="auto">{title === "" ? "Untitled" : title}</b>
        <span class="about">
          <bdi>{agent}</bdi>
          <Origins session={session} />
        </span>
        <span class="figures">
          {counted(messageCount, "message")}
          {total > 0 && <> · {short(total)} tokens</>}
        </span>
        <time
          dateTime={new Date(lastInteractionAt).toISOString()}
          title={moment(lastInteractionAt)}
        >
          {age(lastInteractionAt)}
        </time>
      </a>
    </li>
  );
}

/** The project and its branch, if known. */
export function Origins({ session }: { readonly session: Session }) {
  const { projectPath, gitBranch } = session.origin;
  return (
    <>
      {projectPath !== undefined && (
        <span title={projectPath}>
          {" · "}
          <bdi>{projectName(projectPath)}</bdi>
        </span>
      )}
      {gitBranch !== undefined && gitBranch !== "HEAD" && (
        <span>
          {" · "}
          <bdi>{gitBranch}</bdi>
        </span>
      )}
    </>
  );
}

function NoneLeft() {
  return <p class="empty">No session matches these filters. Remove one to see more.</p>;
}

function EmptyStore() {
  return (
    <div class="empty">
      <h2>No sessions yet</h2>
      <p>Import the transcripts of the agents on this machine:</p>
      <pre>backscroll ingest</pre>
      <p>Or import them continuously, and give agents this memory:</p>
      <pre>backscroll serve --watch{"\n"}backscroll setup</pre>
      <p>
        Sessions appear here as they are stored. Programs use the <a href="docs">REST API</a>.
      </p>
    </div>
  );
}

/** Hits, the best first: the session, the message with marked matches, and a line of context. */
export function Results({ query }: { readonly query: string }) {
  const { result, failure, query: answered } = found.value;
  if (failure !== "") return <p class="failure">{failure}</p>;
  if (result === undefined) {
    return (
      <p class="empty searching" aria-busy="true">
        Searching …
      </p>
    );
  }
  const { hits, notes, indexing, degraded, partial } = result;
  const remarks = [
    ...notes,
    ...(indexing ? ["The index is being built: results may be missing."] : []),
    ...(degraded
      ? ["Part of the index is damaged and will be rebuilt: results may be missing."]
      : []),
    ...(partial ? ["The search reached its time limit: there may be better results."] : []),
  ];
  return (
    <section aria-label="Results" data-answers={answered} aria-busy={answered !== query}>
      {remarks.map((remark) => (
        <p key={remark} class="remark">
          {remark}
        </p>
      ))}
      <p class="sr-only" aria-live="polite">
        {hits.length} results for {answered}
      </p>
      {hits.length === 0 ? (
        <p class="empty">
          No results for “{answered}”. Try fewer or other words
          {Object.keys(chosenFilters()).length > 0 && ", or remove a filter"}. <i>Syntax</i> in the
          box shows what you can type.
        </p>
      ) : (
        <ol class="hits">
          {(showsAll.value ? hits : hits.slice(0, hitsInView())).map((hit) => (
            <HitRow key={hit.entryId ?? hit.sessionId} hit={hit} />
          ))}
        </ol>
      )}
    </section>
  );
}

/** The least height of a hit, in pixels. */
const HIT_PX = 90;
/** The height of the bar, the box and the chips above the hits, in pixels. */
const ABOVE_PX = 160;

function hitsInView(): number {
  return Math.max(1, Math.ceil((innerHeight - ABOVE_PX) / HIT_PX));
}

function HitRow({ hit }: { readonly hit: Hit }) {
  const { meta, window, entryId, leaf } = hit;
  const session = known.value.get(hit.sessionId);
  const at = window.findIndex((item) => item.found);
  const item = window[at];
  const before = saying(window[at - 1]);
  const after = before === undefined ? saying(window[at + 1]) : undefined;
  const isOnActivePath = session === undefined || leaf === null || leaf === session.leaf;
  const link = sessionAddress(hit.sessionId, {
    m: entryId ?? "",
    ...(isOnActivePath ? {} : { leaf: leaf ?? "" }),
  });
  return (
    <li>
      <a class="hit" href={link} data-item>
        <span class="hit-head">
          <b dir="auto">{meta.title === "" ? "Untitled" : meta.title}</b>
          <time dateTime={new Date(meta.updatedAt).toISOString()} title={moment(meta.updatedAt)}>
            {age(item?.createdAt ?? meta.updatedAt)}
          </time>
        </span>
        {before !== undefined && <Line item={before} />}
        {item !== undefined && (
          <span class="snippet">
            <i class={`role ${item.role ?? ""}`}>{labelOf(item)}</i>{" "}
            <span dir="auto">
              {excerptOf(item).map(({ text, marked }, index) =>
                marked ? <mark key={index}>{text}</mark> : text,
              )}
            </span>
          </span>
        )}
        {after !== undefined && <Line item={after} />}
        <span class="about">
          <bdi>{meta.agent}</bdi>
          {session !== undefined && <Origins session={session} />}
          {item !== undefined && (
            <span title={`Message ${item.index} of the session`}> · #{item.index}</span>
          )}
        </span>
      </a>
      <HitNotes hit={hit} />
    </li>
  );
}

/** The neighbour if it has text: a message of tool calls only has none. */
function saying(item: WindowItem | undefined): WindowItem | undefined {
  return item === undefined || item.snippet.trim() === "" ? undefined : item;
}

/** The length of the tool's name at the start of a message's text: the label has it. */
function nameLength({ toolName, snippet }: WindowItem): number {
  if (toolName === null || !snippet.startsWith(toolName)) return 0;
  return toolName.length + (snippet.startsWith(": ", toolName.length) ? 2 : 0);
}

function excerptOf(item: WindowItem) {
  const from = nameLength(item);
  const matches = item.matches
    .filter(({ start }) => start >= from)
    .map(({ start, end }) => ({ start: start - from, end: end - from }));
  // A match in the name alone is shown with it.
  return matches.length === 0
    ? excerpt(item.snippet, item.matches)
    : excerpt(item.snippet.slice(from), matches);
}

/** One line of context. Of a call, its describing value. */
function Line({ item }: { readonly item: WindowItem }) {
  const said = item.snippet.slice(nameLength(item));
  const text = (said.startsWith("({") ? mainArgument(said) : undefined) ?? said;
  return (
    <span class="context-line">
      <i class={`role ${item.role ?? ""}`}>{labelOf(item)}</i>{" "}
      <span dir="auto">{plainLine(headOf(text, 200))}</span>
    </span>
  );
}

function labelOf(item: WindowItem): string {
  return item.toolName ?? item.role ?? "";
}
