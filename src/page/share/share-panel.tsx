/** Read-only links to a session: creation with an expiry, list, revocation. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RemoteEngine } from "../../client/index.ts";
import { tell } from "../data/connection.ts";
import type { Session } from "../data/types.ts";
import { Copy } from "../parts/copy.tsx";
import { moment } from "../parts/words.ts";

type Share = Awaited<ReturnType<RemoteEngine["shares"]["list"]>>[number];

const ENDS = [
  { days: 1, words: "a day" },
  { days: 7, words: "a week" },
  { days: 30, words: "a month" },
];
const DAY_MS = 86_400_000;

export function SharePanel(props: { readonly engine: RemoteEngine; readonly session: Session }) {
  const { engine, session } = props;
  const shares = useSignal<readonly Share[]>([]);
  const made = useSignal<{ readonly id: string; readonly link: string } | undefined>(undefined);
  const days = useSignal(7);
  const failure = useSignal("");
  const act = async (work: () => Promise<unknown>) => {
    try {
      failure.value = "";
      await work();
      shares.value = await engine.shares.list(session.id);
    } catch (error) {
      failure.value = tell(error);
    }
  };
  useEffect(() => void act(async () => undefined), []);
  const make = () =>
    act(async () => {
      const expires = new Date(Date.now() + days.value * DAY_MS);
      const { token, share } = await engine.shares.create(session.id, { expires });
      made.value = { id: share.id, link: engine.shares.linkOf(token) };
    });
  const revoke = (id: string) =>
    act(async () => {
      await engine.shares.revoke(id);
      if (made.value?.id === id) made.value = undefined;
    });
  return (
    <fieldset class="panel-pop" aria-label="Share">
      <h2>Read-only link</h2>
      <p class="about">
        Anyone who has the link and can reach this server can read this session, with secrets
        masked, until the link expires.
      </p>
      <div class="form-row">
        <select
          aria-label="Expiry"
          value={days.value}
          onChange={(event) => {
            days.value = Number(event.currentTarget.value);
          }}
        >
          {ENDS.map((end) => (
            <option key={end.days} value={end.days}>
              for {end.words}
            </option>
          ))}
        </select>
        <button type="button" class="main" onClick={() => void make()}>
          Create link
        </button>
      </div>
      {made.value !== undefined && (
        <p class="hash">
          {made.value.link} <Copy label="Copy" text={() => made.value?.link ?? ""} />
          <br />
          <span class="about">Copy it now: only its hash is stored.</span>
        </p>
      )}
      {shares.value.length > 0 && <h2>Links to this session</h2>}
      <ul class="notes">
        {shares.value.map((share) => (
          <li key={share.id} class="note-head">
            <span class="about">
              {share.id === made.value?.id ? "the link above, " : ""}created{" "}
              {moment(share.createdAt)}
              {share.sharedBy === null ? "" : ` by ${share.sharedBy}`}, expires{" "}
              {moment(share.expiresAt)}
            </span>
            <button type="button" class="quiet note-actions" onClick={() => void revoke(share.id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {failure.value !== "" && <p class="failure">{failure.value}</p>}
    </fieldset>
  );
}
