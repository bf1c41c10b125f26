/** The actions of a session: resume, export, share, keep, delete. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { go } from "../data/address.ts";
import { mayWrite, tell } from "../data/connection.ts";
import type { Session } from "../data/types.ts";
import { RetentionPanel } from "../keep/retention-panel.tsx";
import { Copy } from "../parts/copy.tsx";
import { ask } from "../parts/question.tsx";
import { counted } from "../parts/words.ts";
import { ExportPanel } from "../share/export-panel.tsx";
import { SharePanel } from "../share/share-panel.tsx";
import type { SessionModel } from "./session-model.ts";

type Shown = "" | "export" | "share" | "keep";

export function SessionActions(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  const shows = useSignal<Shown>("");
  const command = useSignal<string | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    model.engine.resumeCommand(session.id).then(
      ({ command: line, folder }) => {
        command.value = line === null || folder === null ? line : `cd ${quoted(folder)} && ${line}`;
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
  const flip = (what: Shown) => {
    shows.value = shows.value === what ? "" : what;
  };
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
      <button
        type="button"
        class="quiet"
        aria-expanded={shows.value === "export"}
        onClick={() => flip("export")}
      >
        Export
      </button>
      {mayWrite.value && (
        <>
          <button
            type="button"
            class="quiet"
            aria-expanded={shows.value === "share"}
            onClick={() => flip("share")}
          >
            Share
          </button>
          <button
            type="button"
            class="quiet"
            aria-expanded={shows.value === "keep"}
            onClick={() => flip("keep")}
          >
            Retention
          </button>
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

/** A folder as one word of a POSIX shell. */
function quoted(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
