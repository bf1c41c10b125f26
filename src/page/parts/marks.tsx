/** What no longer holds: what a person marked, and what was said differently later. */

import { sessionAddress } from "../data/address.ts";
import type { Hit, Mark } from "../data/connection.ts";

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
