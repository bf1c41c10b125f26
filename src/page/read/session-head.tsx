/** The head of a session: title, origin, figures, tools, its tree, and the search in it. */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { totalTokens } from "../../client/index.ts";
import { sessionAddress } from "../data/address.ts";
import {
  type Hit,
  mayWrite,
  type Related,
  type Session,
  tell,
  type WindowItem,
} from "../data/connection.ts";
import { excerpt } from "../find/excerpt.ts";
import { MAX_SUB_AGENTS } from "../find/session-list.ts";
import { Origins } from "../find/session-rows.tsx";
import { put, setTo, Toggle } from "../parts/controls.tsx";
import { MarkNote } from "../parts/marks.tsx";
import { hasMap } from "../parts/media.ts";
import { age, counted, day, dollars, moment, newestOf, short } from "../parts/words.ts";
import { FindInSession } from "./find-in-session.tsx";
import { firstSince } from "./message-pages.ts";
import { SessionActions } from "./session-actions.tsx";
import { SessionGist } from "./session-gist.tsx";
import type { SessionModel } from "./session-model.ts";
import { firstLines, type PlacedStem, placeStems, readLines, type TreeLine } from "./tree-model.ts";

const EXCERPT_CHARACTERS = 160;

/** Sessions similar to the open one, and earlier occurrences of its first question. */
function RelatedSessions(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  const found = useSignal<Related | undefined>(undefined);
  useEffect(() => {
    put(model.engine.relatedSessions({ session: session.id }), found, model.failure);
  }, [session.id]);
  const related = found.value;
  if (related === undefined) {
    return (
      <p class="sub-list" aria-busy="true">
        Looking for similar sessions …
      </p>
    );
  }
  const { sessions, asked } = related;
  if (sessions.length + asked.length === 0) {
    return <p class="sub-list">No similar session is stored.</p>;
  }
  return (
    <section aria-label="Related sessions">
      {sessions.length > 0 && <HitList heading="Similar sessions" hits={sessions} />}
      {asked.length > 0 && <HitList heading="Sessions with the same question" hits={asked} />}
    </section>
  );
}

function HitList(props: { readonly heading: string; readonly hits: readonly Hit[] }) {
  const { heading, hits } = props;
  return (
    <>
      <h2 class="about">{heading}</h2>
      <ul class="sub-list">
        {hits.map(({ sessionId, shortId, entryId, meta, window }) => (
          <li key={`${sessionId} ${entryId}`}>
            <a href={sessionAddress(sessionId, { m: entryId ?? "" })} dir="auto">
              {meta.title === "" ? shortId : meta.title}
            </a>{" "}
            <span class="about" dir="auto">
              {age(meta.updatedAt)} · {excerptOf(window.find((item) => item.found))}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function excerptOf(item: WindowItem | undefined): string {
  if (item === undefined) return "";
  return excerpt(item.snippet, item.matches, item.toolName === null, EXCERPT_CHARACTERS)
    .map(({ text }) => text)
    .join("");
}

const PROVENANCES: Readonly<Record<string, string>> = {
  own: "own",
  team: "of your team",
  foreign: "from outside",
};

/** The title, which a person may replace by a name. */
function Title({ model, title }: { readonly model: SessionModel; readonly title: string }) {
  const isEdited = useSignal(false);
  const rename = async (name: string) => {
    isEdited.value = false;
    if (name === title) return;
    try {
      model.session.value = await model.engine.session(model.id).setTitle(name);
    } catch (error) {
      model.failure.value = tell(error);
    }
  };
  if (isEdited.value) {
    return (
      <input
        type="text"
        aria-label="Name of the session"
        ref={(box) => box?.focus()}
        defaultValue={title}
        onBlur={(event) => void rename(event.currentTarget.value.trim())}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape") currentTarget.value = title;
          if (key === "Enter" || key === "Escape") currentTarget.blur();
        }}
      />
    );
  }
  return (
    <div class="session-name">
      <h1 dir="auto">{title === "" ? "Untitled" : title}</h1>
      {mayWrite.value && (
        <button
          type="button"
          class="quiet"
          aria-label="Rename"
          title="Give it a name"
          onClick={setTo(isEdited, true)}
        >
          ✎
        </button>
      )}
    </div>
  );
}

export function SessionHead(props: {
  readonly model: SessionModel;
  readonly session: Session;
  readonly onIndex: (index: number) => void;
  readonly showsMap: Signal<"" | "map">;
  /** The first message in view. */
  readonly from: () => number;
}) {
  const { model, session, onIndex, from, showsMap } = props;
  const { title, agent, startedAt, updatedAt, messageCount, tokens } = session;
  const shows = useSignal<"" | "tree" | "agents" | "related">("");
  const branches = model.branches.value;
  const agents = model.subagents.value;
  const continued = model.derived.value.filter(({ forkPoint }) => forkPoint === null);
  const forks = model.derived.value.length - continued.length;
  const started = [
    agents.length > 0 ? counted(agents.length, "sub-agent") : "",
    continued.length > 0 ? counted(continued.length, "continuation") : "",
  ].filter(Boolean);
  const left = newestOf(MAX_SUB_AGENTS, agents.length, "sub-agents");
  const { provenance } = session.origin;
  const used = totalTokens(tokens);
  const cost = model.cost.value;
  const mark = model.marks.value.find(({ entryId }) => entryId === null);
  const toDate = async (text: string) => {
    const [year = 0, month = 1, date = 1] = text.split("-").map(Number);
    const time = new Date(year, month - 1, date).getTime();
    if (Number.isNaN(time)) return;
    const timeOf = async (index: number) => (await model.pages.peek(index))?.createdAt;
    onIndex(await firstSince(time, model.pages.total.peek(), timeOf));
  };
  return (
    <header class="session-head">
      <div class="session-title">
        <Title model={model} title={title} />
        <SessionActions model={model} session={session} />
      </div>
      <p class="about">
        <span>
          <bdi>{agent}</bdi>
          <Origins session={session} />
        </span>
        <span title={`${moment(startedAt)} to ${moment(updatedAt)}`}>
          {day(startedAt)}, last written{" "}
          {age(updatedAt) === "now" ? "now" : `${age(updatedAt)} ago`}
        </span>
        <span>{counted(messageCount, "message")}</span>
        {used > 0 && (
          <span
            title={`${short(tokens.inputTokens)} input, ${short(tokens.outputTokens)} output, ${short(tokens.cacheCreationTokens)} written to caches, ${short(tokens.cacheReadTokens)} read from caches`}
          >
            {short(used)} tokens
          </span>
        )}
        {cost > 0 && <span title="By list prices, without sub-agents">{dollars(cost)}</span>}
        {session.parentSessionId !== null && (
          <a href={sessionAddress(session.parentSessionId, { m: session.forkPoint ?? "" })}>
            {session.forkPoint === null ? "Parent session" : "Forked from"}
          </a>
        )}
        {session.parentSessionId === null && model.parent.value !== undefined && (
          <a href={sessionAddress(model.parent.value.id)}>Parent session</a>
        )}
        {started.length > 0 && (
          <Toggle shows={shows} what="agents" class="link">
            {started.join(", ")}
          </Toggle>
        )}
        {branches.length + forks > 1 && (
          <Toggle shows={shows} what="tree" class="link">
            {counted(branches.length, "branch", "branches")}
            {forks > 0 && `, ${counted(forks, "fork")}`}
          </Toggle>
        )}
        <Toggle shows={shows} what="related" class="link">
          Related
        </Toggle>
        {provenance !== undefined && (
          <span class="tag" title="Whose words it has">
            {PROVENANCES[provenance] ?? provenance}
          </span>
        )}
        {model.leaf !== undefined && (
          <a href={sessionAddress(session.id)}>Back to the active path</a>
        )}
        {mark !== undefined && <MarkNote mark={mark} from={session.id} />}
        {!model.isLive.value && <span class="tag">not connected</span>}
        {model.isBeingWritten && <span class="tag live">live</span>}
      </p>
      <SessionGist model={model} session={session} onIndex={onIndex} />
      {shows.value === "tree" && <SessionTree model={model} session={session} />}
      {shows.value === "related" && <RelatedSessions model={model} session={session} />}
      {shows.value === "agents" && (
        <ul class="sub-list">
          {left !== "" && <li class="about">{left}</li>}
          {[...agents.slice(0, MAX_SUB_AGENTS), ...continued].map((one) => (
            <li key={one.id}>
              <a href={sessionAddress(one.id)} dir="auto">
                {one.title === "" ? one.shortId : one.title}
              </a>{" "}
              <span class="about">{counted(one.messageCount, "message")}</span>
            </li>
          ))}
        </ul>
      )}
      <div class="session-tools">
        {!hasMap.value && (
          <Toggle shows={showsMap} what="map" class="map-toggle">
            Map
          </Toggle>
        )}
        <FindInSession model={model} onIndex={onIndex} from={from} />
        {day(startedAt) !== day(updatedAt) && (
          <label class="to-date">
            Go to
            <input
              type="date"
              aria-label="Go to a date"
              min={day(startedAt)}
              max={day(updatedAt)}
              onChange={(event) => void toDate(event.currentTarget.value)}
            />
          </label>
        )}
      </div>
    </header>
  );
}

/** The height of a list item in the style sheet, in pixels. */
const ROW = 44;
/** Width and padding of the drawing in its own units. */
const WIDTH = 100;
const EDGE = 3;

const KINDS: Readonly<Record<TreeLine["kind"], string>> = {
  first: "from the start",
  edit: "edit",
  answer: "another answer",
  branch: "branch",
  fork: "fork",
};

function SessionTree(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  const branches = model.branches.value;
  const derived = model.derived.value;
  const lines = useSignal<readonly TreeLine[]>(firstLines(branches));
  useEffect(() => {
    put(readLines(model.engine, session.id, branches, derived), lines, model.failure);
  }, [branches, derived]);
  const placed = useMemo(() => placeStems(lines.value), [lines.value]);
  const byId = new Map(lines.value.map((line) => [line.id, line]));
  const shown = model.leaf ?? branches.find(({ active }) => active)?.leaf.id;
  return (
    <section class="tree" aria-label="Branches and forks">
      <Drawing placed={placed} shown={placed.find(({ id }) => id === shown)} />
      <ol>
        {placed.map(({ id }) => {
          const line = byId.get(id);
          return (
            line !== undefined && (
              <Line key={id} line={line} session={session} isShown={id === shown} />
            )
          );
        })}
      </ol>
    </section>
  );
}

function Line(props: {
  readonly line: TreeLine;
  readonly session: Session;
  readonly isShown: boolean;
}) {
  const { line, session, isShown } = props;
  const { kind, words, from, to, endedAt, isActive } = line;
  const link =
    line.sessionId === undefined
      ? sessionAddress(session.id, { leaf: isActive ? "" : line.id })
      : sessionAddress(line.sessionId);
  return (
    <li>
      <a href={link} aria-current={isShown ? "true" : undefined} dir="auto">
        {words}
      </a>
      <span class="about">
        {isActive && "active · "}
        {KINDS[kind]}
        {kind !== "first" && ` at #${from}`} · {counted(to, "message")} · {age(endedAt)}
      </span>
    </li>
  );
}

/** Hidden from screen readers: the list beside it has the same content. */
function Drawing(props: {
  readonly placed: readonly PlacedStem[];
  readonly shown: PlacedStem | undefined;
}) {
  const { placed, shown } = props;
  const height = placed.length * ROW;
  return (
    <svg
      class="tree-drawing"
      viewBox={`0 0 ${WIDTH} ${height}`}
      height={height}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {placed.map((stem) => (
        <path key={stem.id} class="stem" d={`${stemPath(stem)}${tip(stem)}`} />
      ))}
      {shown !== undefined && <path class="stem shown" d={pathTo(shown, placed)} />}
      {shown !== undefined && <path class="tip shown" d={tip(shown)} />}
    </svg>
  );
}

/** The path from the root to the end of a branch, through its ancestors. */
function pathTo(stem: PlacedStem, placed: readonly PlacedStem[]): string {
  let path = stemPath(stem);
  let child = stem;
  while (child.parentRow !== child.row) {
    const parent = placed[child.parentRow];
    if (parent === undefined || parent.row >= child.row) break;
    path = `${stemPath({ ...parent, end: child.start })}${path}`;
    child = parent;
  }
  return path;
}

function stemPath(stem: PlacedStem): string {
  return `M${x(stem.start)} ${y(stem.parentRow)}V${y(stem.row)}H${x(stem.end)}`;
}

function tip(stem: PlacedStem): string {
  return `M${x(stem.end)} ${y(stem.row)}h0`;
}

function x(share: number): number {
  return EDGE + share * (WIDTH - 2 * EDGE);
}

function y(row: number): number {
  return (row + 0.5) * ROW;
}
