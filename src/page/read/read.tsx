/** The view of a session: its head and the list of its messages. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { address, param, restate, sessionAddress } from "../data/address.ts";
import { engine } from "../data/connection.ts";
import { isProse, loadMarkdown } from "../markdown/markdown.ts";
import { Failure, isTyping } from "../parts/controls.tsx";
import { whenIdle } from "../parts/idle.ts";
import { counted } from "../parts/words.ts";
import type { MessagePages } from "./message-pages.ts";
import { MessageRow } from "./message-row.tsx";
import { takeOpened } from "./opened-session.ts";
import { SessionHead } from "./session-head.tsx";
import { VirtualList } from "./virtual-list.tsx";

export function Read() {
  const { id } = address.value;
  const leaf = param("leaf");
  return <OpenSession key={`${id} ${leaf}`} id={id} leaf={leaf === "" ? undefined : leaf} />;
}

function OpenSession({ id, leaf }: { readonly id: string; readonly leaf: string | undefined }) {
  const { model, start: opening } = useMemo(
    () => takeOpened(engine.peek(), { id, leaf: leaf ?? "", at: param("m") }),
    [],
  );
  const list = useRef<VirtualList>(null);
  const start = useSignal<{ readonly index: number | undefined } | undefined>(undefined);
  const target = useSignal(param("m"));
  const atEnd = useSignal(false);
  /** The number of messages when the end was last in view. */
  const seen = useSignal(0);

  // A layout effect: the messages may be here already, and `useEffect` runs after the next frame.
  useLayoutEffect(() => {
    void opening.then(async ({ index }) => {
      if (index === "elsewhere") {
        toOtherPath(target.peek());
        return;
      }
      if (needsMarkdown(model.pages, index ?? 0)) await loadMarkdown();
      start.value = { index };
    });
    return () => model.close();
  }, []);

  useEffect(() => whenIdle(() => void loadMarkdown()), []);

  // The total shrinks: a pending message counts twice while it is stored, and no more once it is aborted.
  useSignalEffect(() => {
    const count = model.pages.total.value + model.pending.value.length;
    if (seen.peek() > count) seen.value = count;
  });

  // A link to another message of the session that is open.
  useSignalEffect(() => {
    const entryId = param("m");
    if (entryId === target.peek() || address.value.id !== id) return;
    target.value = entryId;
    if (entryId !== "") void jumpTo(entryId);
  });

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === "f") {
        event.preventDefault();
        document.querySelector<HTMLElement>("#find-in")?.focus();
      }
      if (event.key === "o") unfold();
      if (event.key === "c") copyLink();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  /** Shows a superseded message, or one of another branch, on the path that ends with it. */
  const toOtherPath = (entryId: string) =>
    restate(sessionAddress(id, { m: entryId, leaf: entryId }));

  const jumpTo = async (entryId: string) => {
    const index = await model.pages.find(entryId).catch(() => undefined);
    if (index === "elsewhere") toOtherPath(entryId);
    else if (index !== undefined) list.current?.jumpTo(index);
  };

  const session = model.session.value;
  const failure = model.failure.value;
  const total = model.pages.total.value + model.pending.value.length;
  if (session === undefined) {
    return failure === "" ? (
      <p class="empty" aria-busy="true" />
    ) : (
      <main class="empty">
        <Failure text={failure} alert />
        <p>
          <a href="#/">Back to the search</a>
        </p>
      </main>
    );
  }
  const unseen = total - seen.value;
  return (
    <main class="read">
      <SessionHead
        model={model}
        session={session}
        onJump={(entryId, index) => {
          target.value = entryId;
          restate(sessionAddress(id, { m: entryId, leaf }));
          list.current?.jumpTo(index);
        }}
        onIndex={(index) => list.current?.jumpTo(index)}
      />
      <Failure text={failure} alert />
      {total === 0 ? (
        <p class="empty">This session has no messages yet. New ones appear here.</p>
      ) : start.value === undefined ? (
        <p class="empty" aria-busy="true" />
      ) : (
        <VirtualList
          control={list}
          total={total}
          label={`Messages of ${session.title}`}
          start={
            start.value.index === undefined
              ? { index: 0, offset: 0 }
              : { index: start.value.index, offset: 16 }
          }
          row={(index) => <MessageRow model={model} index={index} target={target.value} />}
          onRange={({ first, last }) => model.pages.want(first, last)}
          onEnd={(isEnd) => {
            atEnd.value = isEnd;
            if (isEnd) seen.value = total;
          }}
        />
      )}
      {!atEnd.value && seen.value > 0 && unseen > 0 && (
        <button type="button" class="to-end" onClick={() => list.current?.jumpToEnd()}>
          ↓ {counted(unseen, "new message")}
        </button>
      )}
    </main>
  );
}

/** Rows that the first view may show. */
const FIRST_ROWS = 12;

/** Whether a message of the first view is more than prose: its raw text should not flash up. */
function needsMarkdown(pages: MessagePages, from: number): boolean {
  const rows = Array.from({ length: FIRST_ROWS }, (_, at) => pages.get(from + at));
  const blocks = rows.flatMap((entry) => entry?.blocks ?? []);
  return blocks.some((block) => block.type === "text" && !isProse(block.text));
}

function focused(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-entry]") ?? null;
}

function unfold(): void {
  focused()?.querySelector<HTMLElement>(".fold-line")?.click();
}

function copyLink(): void {
  focused()?.querySelector<HTMLElement>("header button")?.click();
}
