/** The actions of a session: resume, export, share, keep, delete. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { RemoteEngine } from "../../client/index.ts";
import { shellWord } from "../../model/display.ts";
import { go } from "../data/address.ts";
import { mayWrite, type Session, tell } from "../data/connection.ts";
import { ask, Copy, Failure, Toggle } from "../parts/controls.tsx";
import { counted, moment } from "../parts/words.ts";
import type { SessionModel } from "./session-model.ts";

type Panel = "export" | "share" | "keep";

export function SessionActions(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  const shows = useSignal<Panel | "">("");
  const command = useSignal<string | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    model.engine.resumeCommand(session.id).then(
      ({ command: line, folder }) => {
        command.value =
          line === null || folder === null ? line : `cd ${shellWord(folder)} && ${line}`;
      },
      () => undefined,
    );
    const close = (event: Event) => {
      // A confirmation dialog is outside of the panel that opened it.
      const target = event.target as Element;
      if (!place.current?.contains(target) && target.closest("dialog") === null) shows.value = "";
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, [session.id]);
  // An opened panel takes the focus; a closed one returns it to its button.
  useEffect(() => {
    place.current?.querySelector<HTMLElement>(".panel-pop :is(button, select)")?.focus();
  }, [shows.value]);
  const close = () => {
    place.current?.querySelector<HTMLElement>("[aria-expanded=true]")?.focus();
    shows.value = "";
  };
  const remove = async () => {
    const text = `“${session.title || session.shortId}” with ${counted(session.messageCount, "message")} is deleted permanently, with everything derived from it alone. A tombstone without content remains.`;
    if (!(await ask("Delete this session?", text, "Delete"))) return;
    try {
      await model.engine.deleteSession(session.id);
      go("#/");
    } catch (error) {
      model.failure.value = tell(error);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the panel from anywhere in it
    <div
      class="actions"
      ref={place}
      onKeyDown={(event) => {
        if (event.key === "Escape" && shows.value !== "") close();
      }}
    >
      {command.value !== null && (
        <Copy label="Copy resume command" title={command.value} text={() => command.value ?? ""} />
      )}
      <Toggle shows={shows} what="export" class="quiet">
        Export
      </Toggle>
      {mayWrite.value && (
        <>
          <Toggle shows={shows} what="share" class="quiet">
            Share
          </Toggle>
          <Toggle shows={shows} what="keep" class="quiet">
            Retention
          </Toggle>
          <button type="button" class="quiet" onClick={() => void remove()}>
            Delete
          </button>
        </>
      )}
      {shows.value === "export" && (
        <ExportPanel engine={model.engine} session={session} leaf={model.leaf} />
      )}
      {shows.value === "share" && <SharePanel engine={model.engine} session={session} />}
      {shows.value === "keep" && <RetentionPanel engine={model.engine} session={session} />}
    </div>
  );
}

// The export of a session as a file, with secrets masked by default.

const FORMATS = [
  { name: "html", words: "HTML", ending: "html", type: "text/html" },
  { name: "markdown", words: "Markdown", ending: "md", type: "text/markdown" },
  { name: "atif", words: "JSON", ending: "json", type: "application/json" },
] as const;

function ExportPanel(props: {
  readonly engine: RemoteEngine;
  readonly session: Session;
  readonly leaf: string | undefined;
}) {
  const { engine, session, leaf } = props;
  const raw = useSignal(false);
  const failure = useSignal("");
  const save = async ({ name, ending, type }: (typeof FORMATS)[number]) => {
    failure.value = "";
    try {
      const bytes = await engine.session(session.id).export({
        format: name,
        raw: raw.value,
        ...(leaf === undefined ? {} : { leaf }),
      });
      const file = await new Response(bytes as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
      download(new Blob([file], { type }), `${session.shortId}.${ending}`);
    } catch (error) {
      failure.value = tell(error);
    }
  };
  return (
    <fieldset class="panel-pop" aria-label="Export">
      <h2>Export</h2>
      <p class="about">
        Saves the messages of this path as a file. Secrets are masked unless you say otherwise.
      </p>
      <div class="form-row">
        {FORMATS.map((format) => (
          <button key={format.name} type="button" onClick={() => void save(format)}>
            {format.words}
          </button>
        ))}
      </div>
      <label class="form-row">
        <input
          type="checkbox"
          checked={raw.value}
          onChange={(event) => {
            raw.value = event.currentTarget.checked;
          }}
        />
        Do not mask secrets
      </label>
      <Failure text={failure.value} />
    </fieldset>
  );
}

function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Read-only links to a session: creation with an expiry, list, revocation.

type Share = Awaited<ReturnType<RemoteEngine["shares"]["list"]>>[number];

const SHARE_ENDS = [
  { days: 1, words: "a day" },
  { days: 7, words: "a week" },
  { days: 30, words: "a month" },
];
const DAY_MS = 86_400_000;

function SharePanel(props: { readonly engine: RemoteEngine; readonly session: Session }) {
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
          {SHARE_ENDS.map((end) => (
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
      <Failure text={failure.value} />
    </fieldset>
  );
}

// The retention and time to live of a session, changed after a confirmation.

const RETENTIONS: readonly {
  readonly name: Session["retention"];
  readonly words: string;
  readonly means: string;
}[] = [
  { name: "full", words: "everything", means: "Nothing is erased." },
  {
    name: "audit-only",
    words: "metadata only",
    means: "The content of covered messages is erased permanently; author, time and usage remain.",
  },
  {
    name: "ephemeral",
    words: "tombstones",
    means:
      "Covered messages are erased permanently, with author and usage; position and hashes remain.",
  },
];

const DAY_S = 86_400;
const RETENTION_ENDS = [0, 1, 7, 30, 90, 365];

function RetentionPanel(props: { readonly engine: RemoteEngine; readonly session: Session }) {
  const { engine, session } = props;
  const retention = useSignal(session.retention);
  const days = useSignal(session.ttl === null ? 0 : session.ttl / DAY_S);
  const said = useSignal("");
  const failure = useSignal("");
  const ends = RETENTION_ENDS.includes(days.value)
    ? RETENTION_ENDS
    : [...RETENTION_ENDS, days.value];
  const isChanged =
    retention.value !== session.retention ||
    days.value !== (session.ttl === null ? 0 : session.ttl / DAY_S);
  const save = async () => {
    const { means } = RETENTIONS.find(({ name }) => name === retention.value) ?? { means: "" };
    const end =
      days.value === 0
        ? "The session is not deleted automatically."
        : `The session is deleted ${counted(days.value, "day")} after its last message.`;
    if (!(await ask("Change the retention?", `${means} ${end}`, "Change"))) return;
    try {
      failure.value = "";
      const handle = engine.session(session.id);
      const ttl = days.value === 0 ? null : days.value * DAY_S;
      await handle.update({ retention: retention.value, ttl });
      const { erased } = await handle.applyRetention();
      said.value = `Changed. ${counted(erased, "message")} erased.`;
    } catch (error) {
      failure.value = tell(error);
    }
  };
  return (
    <fieldset class="panel-pop" aria-label="Retention">
      <h2>Retention</h2>
      <p class="about">After a compaction, a summary stands for the older messages.</p>
      <div class="form-row">
        <label for="retention">Of those, keep</label>
        <select
          id="retention"
          value={retention.value}
          onChange={(event) => {
            const { value } = event.currentTarget;
            retention.value = RETENTIONS.find(({ name }) => name === value)?.name ?? "full";
          }}
        >
          {RETENTIONS.map(({ name, words }) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <div class="form-row">
        <label for="ttl">Delete the session</label>
        <select
          id="ttl"
          value={days.value}
          onChange={(event) => {
            days.value = Number(event.currentTarget.value);
          }}
        >
          {ends.map((end) => (
            <option key={end} value={end}>
              {end === 0 ? "never" : `${counted(end, "day")} after its last message`}
            </option>
          ))}
        </select>
      </div>
      <button type="button" class="main" disabled={!isChanged} onClick={() => void save()}>
        Change …
      </button>
      <p aria-live="polite">{said.value}</p>
      <Failure text={failure.value} />
    </fieldset>
  );
}
