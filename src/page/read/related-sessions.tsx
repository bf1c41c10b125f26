/** Sessions similar to the open one, and earlier occurrences of its first question. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { tell } from "../data/connection.ts";
import type { Hit, Related, Session, WindowItem } from "../data/types.ts";
import { excerpt } from "../find/excerpt.ts";
import { age } from "../parts/words.ts";
import type { SessionModel } from "./session-model.ts";

const EXCERPT_CHARACTERS = 160;

export function RelatedSessions(props: {
  readonly model: SessionModel;
  readonly session: Session;
}) {
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
