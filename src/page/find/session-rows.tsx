/** Rows of the search view: the newest sessions, and hits. */

import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { talkOf, whoDid } from "../../api/text/talk.ts";
import { isCallPart, readableCall } from "../../api/text/tool-call.ts";
import { outcomeWords, projectName } from "../../model/display.ts";
import { address, besideList, param } from "../data/address.ts";
import type { Hit, Session, WindowItem } from "../data/connection.ts";
import { Copy, Failure, put, setTo } from "../parts/controls.tsx";
import { HitNotes } from "../parts/marks.tsx";
import { age, counted, day, dollars, moment, newestOf } from "../parts/words.ts";
import { excerpt, type Piece } from "./excerpt.ts";
import { chooseSort, isNarrowed } from "./filters.ts";
import { found, known, moreHits, showsAll, total } from "./search.ts";
import {
  costs,
  listed,
  listOrder,
  loadMore,
  MAX_REPEATS,
  MAX_SUB_AGENTS,
  outcomes,
  readFamily,
} from "./session-list.ts";

export function SessionList() {
  const { sessions, nextCursor, failure, ready } = listed.value;
  if (failure !== "" && sessions.length === 0) return <Failure text={failure} alert />;
  if (!ready) return <p class="empty" aria-busy="true" />;
  if (sessions.length === 0) return isNarrowed() ? <NoneLeft /> : <EmptyStore />;
  const order = listOrder();
  const groups = order === "time" ? groupsOf(sessions) : [["", sessions] as const];
  return (
    <section aria-label="Sessions in order">
      <Failure text={failure} alert />
      <Orders orders={LIST_ORDERS} chosen={order === "time" ? "" : order} />
      {groups.map(([name, group]) => (
        <section key={name}>
          {order === "time" && !isNarrowed() && <h2>{name}</h2>}
          <ol class="sessions">
            {group.map((session) => (
              <Family key={session.id} session={session} />
            ))}
          </ol>
        </section>
      ))}
      {nextCursor !== undefined && (
        <button type="button" class="more" onClick={() => void loadMore()}>
          Show more
        </button>
      )}
    </section>
  );
}

/** An unfinished session of so many days is shown before all others. */
const UNFINISHED_DAYS = 7;
const DAY_MS = 86_400_000;

/** What is unfinished, and the others by day. */
function groupsOf(sessions: readonly Session[]): readonly (readonly [string, Session[]])[] {
  const now = Date.now();
  const [today, yesterday] = [day(now), day(now - DAY_MS)];
  const groups = Map.groupBy(sessions, ({ id, lastInteractionAt: at }) => {
    const isOld = at < now - UNFINISHED_DAYS * DAY_MS;
    if (!isOld && outcomes.value.get(id)?.word === "unfinished") return "Unfinished";
    return day(at) === today ? "Today" : day(at) === yesterday ? "Yesterday" : "Earlier";
  });
  return (["Unfinished", "Today", "Yesterday", "Earlier"] as const).flatMap((name) => {
    const group = groups.get(name);
    return group === undefined ? [] : [[name, group] as const];
  });
}

/** The values of `sort` in the address, with their words. */
type OrderWords = readonly (readonly [sort: string, words: string])[];

const LIST_ORDERS: OrderWords = [
  ["", "Newest"],
  ["size", "Largest"],
  ["cost", "Dearest"],
];

function Orders({ orders, chosen }: { readonly orders: OrderWords; readonly chosen: string }) {
  return (
    <fieldset class="chips" aria-label="Order">
      {orders.map(([sort, words]) => (
        <button
          key={sort}
          type="button"
          class={sort === chosen ? "chip chosen-one" : "chip"}
          aria-pressed={sort === chosen}
          onClick={() => chooseSort(sort)}
        >
          {words}
        </button>
      ))}
    </fieldset>
  );
}

/** A session, and on demand its sub-agents and the other runs of the same. */
function Family({ session }: { readonly session: Session }) {
  const isOpen = useSignal(false);
  const family = useSignal<readonly Session[]>([]);
  const failure = useSignal("");
  const { repeats = [], subAgents = 0 } = listed.value.nested.get(session.id) ?? {};
  useEffect(() => {
    failure.value = "";
    if (isOpen.value) put(readFamily(session.id), family, failure);
  }, [isOpen.value, repeats.length, subAgents]);
  const words = [
    repeats.length > 0 ? `${repeats.length} × the same` : "",
    subAgents > 0 ? counted(subAgents, "sub-agent") : "",
  ].filter(Boolean);
  const left = [
    newestOf(MAX_REPEATS, repeats.length, "other runs"),
    newestOf(MAX_SUB_AGENTS, subAgents, "sub-agents"),
  ].filter(Boolean);
  return (
    <>
      <SessionRow session={session} runs={repeats.length + 1} />
      {words.length > 0 && (
        <li class="family">
          <button
            type="button"
            class="quiet"
            aria-expanded={isOpen.value}
            onClick={setTo(isOpen, !isOpen.value)}
          >
            {isOpen.value ? "▾" : "▸"} {words.join(", ")}
          </button>
          <Failure text={failure.value} />
          {isOpen.value && left.length > 0 && <p class="about">{left.join(" ")}</p>}
          {isOpen.value && (
            <ol class="sessions">
              {family.value.map((one) => (
                <SessionRow key={one.id} session={one} />
              ))}
            </ol>
          )}
        </li>
      )}
    </>
  );
}

function currentIf(id: string, entryId: string): "true" | undefined {
  const { view, id: open } = address.value;
  if (view !== "session" || open !== id) return undefined;
  return entryId === "" || param("m") === entryId ? "true" : undefined;
}

/** `runs`: so many of a machine, this one included. */
function SessionRow({ session, runs = 1 }: { readonly session: Session; readonly runs?: number }) {
  const { id, title, agent, lastInteractionAt } = session;
  const order = listOrder();
  const outcome = outcomes.value.get(id);
  const ended = outcome === undefined ? "" : outcomeWords(outcome);
  // Unknown until the list by cost has arrived.
  const cost = costs.value.get(id);
  return (
    <li>
      <a class="session" href={besideList(id)} data-item aria-current={currentIf(id, "")}>
        <b dir="auto">
          {runs > 1 && `${runs} × `}
          {title === "" ? "Untitled" : title}
        </b>
        <span class="about">
          {order === "size" && `${counted(session.messageCount, "message")} · `}
          {order === "cost" && cost !== undefined && `${dollars(cost)} · `}
          <bdi>{agent}</bdi>
          <Origins session={session} />
        </span>
        <time
          dateTime={new Date(lastInteractionAt).toISOString()}
          title={moment(lastInteractionAt)}
        >
          {age(lastInteractionAt)}
        </time>
        {ended !== "" && (
          <span class={`outcome ${outcome?.word}`}>
            {outcome?.word === "unfinished" ? "●" : "✓"} {ended}
          </span>
        )}
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

const FILL = "backscroll setup && backscroll ingest";

function EmptyStore() {
  return (
    <div class="empty">
      <h2>No sessions yet</h2>
      <p>One line stores what the agents on this machine wrote, and what they write from now on:</p>
      <pre>
        {FILL} <Copy label="Copy" text={() => FILL} />
      </pre>
      <p>
        Sessions appear here as they are stored. Programs use the <a href="docs">REST API</a>.
      </p>
    </div>
  );
}

/** Hits, the best first: the session, the message with marked matches, and a line of context. */
export function Results({ query }: { readonly query: string }) {
  const { result, failure, query: answered } = found.value;
  if (result === undefined) {
    return failure !== "" ? (
      <Failure text={failure} alert />
    ) : (
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
      <Failure text={failure} alert />
      {remarks.map((remark) => (
        <p key={remark} class="remark">
          {remark}
        </p>
      ))}
      <div class="section-head">
        <p class="about" aria-live="polite">
          {total.value === undefined
            ? counted(hits.length, "result")
            : `About ${counted(Math.max(total.value, hits.length), "session")}`}
        </p>
        <Orders orders={HIT_ORDERS} chosen={param("sort") === "time" ? "time" : ""} />
      </div>
      {hits.length === 0 ? (
        <p class="empty">
          No results for “{answered}”. Try fewer or other words
          {isNarrowed() && ", or remove a filter"}. <i>Syntax</i> in the box shows what you can
          type.
        </p>
      ) : (
        <ol class="hits">
          {(showsAll.value ? hits : hits.slice(0, hitsInView())).map((hit) => (
            <HitRow key={hit.entryId ?? hit.sessionId} hit={hit} />
          ))}
        </ol>
      )}
      {result.nextCursor !== undefined && showsAll.value && (
        <button type="button" class="more" onClick={() => void moreHits()}>
          Show more
        </button>
      )}
    </section>
  );
}

/** The best 100 hits are ordered by time. */
const HIT_ORDERS: OrderWords = [
  ["", "Best first"],
  ["time", "Newest first"],
];

/** The least height of a hit, in pixels. */
const HIT_PX = 90;
/** The height of the bar, the box and the chips above the hits, in pixels. */
const ABOVE_PX = 160;

function hitsInView(): number {
  return Math.max(1, Math.ceil((innerHeight - ABOVE_PX) / HIT_PX));
}

function HitRow({ hit }: { readonly hit: Hit }) {
  const { meta, window, exchange, entryId, leaf } = hit;
  const session = known.value.get(hit.sessionId);
  const item = window.find(({ found }) => found);
  const isOnActivePath = session === undefined || leaf === null || leaf === session.leaf;
  const link = besideList(hit.sessionId, {
    m: entryId ?? "",
    ...(isOnActivePath ? {} : { leaf: leaf ?? "" }),
  });
  return (
    <li>
      <a class="hit" href={link} data-item aria-current={currentIf(hit.sessionId, entryId ?? "")}>
        <span class="hit-head">
          <b dir="auto">{meta.title === "" ? "Untitled" : meta.title}</b>
          <time dateTime={new Date(meta.updatedAt).toISOString()} title={moment(meta.updatedAt)}>
            {age(item?.createdAt ?? meta.updatedAt)}
          </time>
        </span>
        {talkOf(window, exchange)
          .map(matchingPart)
          .map((one) => (
            <span key={one.index} class={one.found ? "snippet" : "context-line"}>
              <i class={`role ${one.role ?? ""}`}>{labelOf(one, meta.agent)}</i>{" "}
              <span dir="auto">{(one.found ? excerptOf(one) : headOf(one)).map(pieceOf)}</span>
            </span>
          ))}
        <span class="about">
          {item !== undefined && (
            <span title={`Message ${item.index} of the session`}>#{item.index} · </span>
          )}
          <bdi>{meta.agent}</bdi>
          {session !== undefined && <Origins session={session} />}
        </span>
      </a>
      <HitNotes hit={hit} />
    </li>
  );
}

function pieceOf({ text, marked, style }: Piece, key: number) {
  const shown =
    style === "code" ? <code>{text}</code> : style === "strong" ? <strong>{text}</strong> : text;
  return marked ? <mark key={key}>{shown}</mark> : <Fragment key={key}>{shown}</Fragment>;
}

/** Of a message with calls the part that matches: what it said, or its call. */
function matchingPart(item: WindowItem): WindowItem {
  const { role, toolName, snippet, matches } = item;
  const at = role === "assistant" && toolName !== null ? snippet.search(NEXT_CALL) + 1 : 0;
  if (at === 0) return item;
  const said = matches.filter(({ start }) => start < at);
  if (said.length > 0 || matches.length === 0) {
    return { ...item, snippet: snippet.slice(0, at), matches: said, truncated: false };
  }
  const shifted = matches.map(({ start, end }) => ({ start: start - at, end: end - at }));
  return { ...item, snippet: snippet.slice(at), matches: shifted };
}

const NEXT_CALL = /\n(?=[\w.:-]{1,80}\(\{)/;

function excerptOf({ role, toolName, snippet, truncated, matches }: WindowItem) {
  const isTool = role === "tool";
  const isCall = role === "assistant" && toolName !== null && isCallPart(snippet, truncated);
  const { text, offsetOf } = isCall
    ? readableCall(snippet)
    : { text: snippet, offsetOf: (offset: number) => offset };
  // The label has the tool's name.
  const named = isTool ? `${toolName}: ` : `${toolName} `;
  const from = (isTool || isCall) && text.startsWith(named) ? named.length : 0;
  const shown = matches
    .map(({ start, end }) => ({ start: offsetOf(start) - from, end: offsetOf(end) - from }))
    .filter(({ start, end }) => start >= 0 && end > start);
  // A match in the name alone is shown with it.
  return shown.length === 0 && matches.length > 0 && !isCall
    ? excerpt(snippet, matches, !isTool)
    : excerpt(text.slice(from), shown, !isTool && !isCall);
}

/** What was asked or said: around the words of the query, else its beginning. */
function headOf({ snippet, matches }: WindowItem): readonly Piece[] {
  return excerpt(snippet, matches, true, HEAD);
}

/** More than a line has. */
const HEAD = 200;

/** `you asked`, `it said`, `it ran Bash`, `it got (Bash)`. */
function labelOf(item: WindowItem, agent: string): string {
  const words = whoDid(item, agent);
  const { toolName, role } = item;
  if (toolName === null || words.endsWith(" said")) return words;
  return role === "tool" ? `${words} (${toolName})` : `${words} ${toolName}`;
}
