/** The head of a session: title, origin, figures, actions and tools. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { totalTokens } from "../../client/index.ts";
import { sessionAddress } from "../data/address.ts";
import { tell } from "../data/connection.ts";
import type { Hit, Related, Session, WindowItem } from "../data/types.ts";
import { excerpt } from "../find/excerpt.ts";
import { Origins } from "../find/session-rows.tsx";
import { age, counted, day, dollars, moment, short } from "../parts/words.ts";
import { FindInSession } from "./find-in-session.tsx";
import { firstSince } from "./message-pages.ts";
import { SessionActions } from "./session-actions.tsx";
import type { SessionModel } from "./session-model.ts";
import { SessionTree } from "./session-tree.tsx";

/** Sessions similar to the open one, and earlier occurrences of its first question. */
const EXCERPT_CHARACTERS = 160;

function RelatedSessions(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  const found = useSignal<Related | undefined>(undefined);
  useEffect(() => {
    model.engine.relatedSessions({ session: session.id }).then(
      (related) => {
        found.value = related;
      },
      (error: unknown) => {
        model.failure.value = tell(error);
      },
    );
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
  return excerpt(item.snippet, item.matches, EXCERPT_CHARACTERS)
    .map(({ text }) => text)
    .join("");
}

/** A session written to within this time is tagged as live, in milliseconds. */
const LIVE_MS = 300_000;

export function SessionHead(props: {
  readonly model: SessionModel;
  readonly session: Session;
  readonly onJump: (entryId: string, index: number) => void;
  readonly onIndex: (index: number) => void;
}) {
  const { model, session, onJump, onIndex } = props;
  const { title, agent, startedAt, updatedAt, messageCount, tokens } = session;
  const shows = useSignal<"" | "tree" | "agents" | "related">("");
  const branches = model.branches.value;
  const forks = model.subagents.value.filter(({ forkPoint }) => forkPoint !== null).length;
  const agents = model.subagents.value.filter(({ forkPoint }) => forkPoint === null);
  const flip = (what: "tree" | "agents" | "related") => {
    shows.value = shows.value === what ? "" : what;
  };
  const used = totalTokens(tokens);
  const cost = model.cost.value;
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
        <h1 dir="auto">{title === "" ? "Untitled" : title}</h1>
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
        {agents.length > 0 && (
          <button
            type="button"
            class="link"
            aria-expanded={shows.value === "agents"}
            onClick={() => flip("agents")}
          >
            {counted(agents.length, "sub-agent")}
          </button>
        )}
        {branches.length + forks > 1 && (
          <button
            type="button"
            class="link"
            aria-expanded={shows.value === "tree"}
            onClick={() => flip("tree")}
          >
            {counted(branches.length, "branch", "branches")}
            {forks > 0 && `, ${counted(forks, "fork")}`}
          </button>
        )}
        <button
          type="button"
          class="link"
          aria-expanded={shows.value === "related"}
          onClick={() => flip("related")}
        >
          Related
        </button>
        {model.leaf !== undefined && (
          <a href={sessionAddress(session.id)}>Back to the active path</a>
        )}
        {!model.isLive.value && <span class="tag">not connected</span>}
        {model.isLive.value && Date.now() - session.lastWriteAt < LIVE_MS && (
          <span class="tag live">live</span>
        )}
      </p>
      {shows.value === "tree" && <SessionTree model={model} session={session} />}
      {shows.value === "related" && <RelatedSessions model={model} session={session} />}
      {shows.value === "agents" && (
        <ul class="sub-list">
          {agents.map((one) => (
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
        <FindInSession model={model} onJump={onJump} />
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
