/** The list of the newest sessions: title, agent, origin, figures, age. */

import { projectName } from "../../model/display.ts";
import { sessionAddress } from "../data/address.ts";
import type { Session } from "../data/types.ts";
import { age, counted, moment, short } from "../parts/words.ts";
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

export function SessionRow({ session }: { readonly session: Session }) {
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
