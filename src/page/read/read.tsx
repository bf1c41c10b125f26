/** The view of a session: its head and the list of its messages. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { address, besideList, param, restate } from "../data/address.ts";
import { engine } from "../data/connection.ts";
import { dropEarlyAnswers, PAGE } from "../data/early-requests.ts";
import { isReachable } from "../data/reach.ts";
import { readerShown } from "../find/beside.ts";
import { isProse, loadMarkdown } from "../markdown/markdown.ts";
import { Failure, isTyping } from "../parts/controls.tsx";
import { whenIdle } from "../parts/idle.ts";
import { hasMap } from "../parts/media.ts";
import { tab } from "../parts/tab.ts";
import { counted } from "../parts/words.ts";
import { highlight } from "./highlight.ts";
import { rememberSeen } from "./last-seen.ts";
import type { MessagePages } from "./message-pages.ts";
import { SafeRow } from "./safe-row.tsx";
import { SessionHead } from "./session-head.tsx";
import { SessionMap } from "./session-map.tsx";
import { SessionModel } from "./session-model.ts";
import { VirtualList } from "./virtual-list.tsx";

export function Read() {
  const { id } = address.value;
  const leaf = param("leaf");
  return <OpenSession key={`${id} ${leaf}`} id={id} leaf={leaf === "" ? undefined : leaf} />;
}

function OpenSession({ id, leaf }: { readonly id: string; readonly leaf: string | undefined }) {
  const { model, opening } = useMemo(() => {
    const opened = new SessionModel(engine.peek(), id, leaf);
    const found = opened.open(param("m"));
    // The early script has asked already. What is not taken now would be stale later.
    void found.finally(dropEarlyAnswers);
    return { model: opened, opening: found };
  }, []);
  const list = useRef<VirtualList>(null);
  const start = useSignal<{ readonly index: number | undefined } | undefined>(undefined);
  const target = useSignal(param("m"));
  /** The message of the address. The target may be another one, which shows it. */
  const linked = useRef(param("m"));
  /** The first message in view. */
  const top = useSignal(0);
  /** The message that keys led to, until its reader scrolls. Where all rows fit, none moves to the top. */
  const cursor = useRef<number | undefined>(undefined);
  const showsMap = useSignal<"" | "map">("");
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
      const row = index === undefined ? undefined : await rowOf(index);
      start.value = { index: row };
    });
    const leave = () => {
      const { index } = list.current?.anchor ?? { index: 0 };
      if (index > 0) rememberSeen(id, index);
    };
    addEventListener("pagehide", leave);
    return () => {
      leave();
      removeEventListener("pagehide", leave);
      model.close();
    };
  }, []);

  const isStarted = start.value !== undefined;
  useEffect(() => {
    if (!isStarted) return;
    takeFocus();
    const timer = setTimeout(() => {
      readerShown.value = true;
    }, AFTER_PAINT_MS);
    return () => clearTimeout(timer);
  }, [isStarted]);

  useEffect(() => whenIdle(() => void loadMarkdown()), []);

  /** A session that was opened from the list beside it gets the focus. */
  const takeFocus = () => {
    if (document.activeElement?.closest(".find [data-item]")) list.current?.focus();
  };

  // The total shrinks: a pending message counts twice while it is stored, and no more once it is aborted.
  useSignalEffect(() => {
    const count = model.pages.total.value + model.pending.value.length;
    if (seen.peek() > count) seen.value = count;
  });

  useSignalEffect(() => {
    const { title = "", agent = "" } = model.session.value ?? {};
    const words = title === "" ? "Untitled" : title;
    tab.value = { words, sign: agent[0]?.toUpperCase() ?? "", isLive: model.isBeingWritten };
  });

  // A link to another message of the session that is open.
  useSignalEffect(() => {
    const entryId = param("m");
    if (entryId === linked.current || address.value.id !== id) return;
    linked.current = entryId;
    target.value = entryId;
    if (entryId !== "") void jumpTo(entryId);
    takeFocus();
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
      if (event.key === "n" || event.key === "p") void toPrompt(event.key === "n" ? 1 : -1);
      if (SCROLLS.has(event.key)) {
        cursor.current = undefined;
        // The browser scrolls what has the focus after this handler.
        if (document.activeElement === document.body) list.current?.focus();
      }
      if (event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      cursor.current = event.key === "Home" ? 0 : Number.POSITIVE_INFINITY;
      if (event.key === "Home") list.current?.jumpTo(0, 0);
      else list.current?.jumpToEnd();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  /** Shows a superseded message, or one of another branch, on the path that ends with it. */
  const toOtherPath = (entryId: string) => restate(besideList(id, { m: entryId, leaf: entryId }));

  const jumpTo = async (entryId: string) => {
    const index = await model.pages.find(entryId).catch(() => undefined);
    if (index === "elsewhere") toOtherPath(entryId);
    else if (index !== undefined) list.current?.jumpTo(await rowOf(index));
  };

  /** The row of a message; the message that it shows becomes the marked one. */
  const rowOf = async (index: number): Promise<number> => {
    const row = await model.pages.rowOf(index).catch(() => index);
    const shown = model.pages.get(row);
    if (row !== index && shown !== undefined) target.value = shown.id;
    return row;
  };

  /** Jumps to the message with this number, and names it in the address. */
  const toIndex = async (index: number) => {
    const entry = await model.pages.peek(index).catch(() => undefined);
    if (entry === undefined) return;
    cursor.current = index;
    target.value = entry.id;
    linked.current = entry.id;
    restate(besideList(id, { m: entry.id, leaf }));
    await model.pages.load(Math.floor(index / PAGE));
    list.current?.jumpTo(await rowOf(index));
  };

  const leaveCursor = () => {
    cursor.current = undefined;
  };

  const toPrompt = async (step: 1 | -1) => {
    const { turns } = await model.outline.known();
    const from = cursor.current ?? list.current?.anchor.index ?? 0;
    const next =
      step === 1
        ? turns.find(({ index }) => index > from)
        : turns.findLast(({ index }) => index < from);
    if (next !== undefined) await toIndex(next.index);
  };

  useEffect(() => {
    const paint = () => {
      const { text } = model.sought.peek();
      const words = text === "" ? wordsOf(param("q")) : [text];
      const place = text === "" ? ".message.target .content" : ".message .content";
      highlight("sought", document.querySelectorAll(place), words);
      whenIdle(() => {
        // What scrolls in itself can be reached by keys.
        for (const part of document.querySelectorAll<HTMLElement>(".rows :is(pre, .diff)")) {
          const { scrollWidth, clientWidth, scrollHeight, clientHeight } = part;
          if (scrollWidth > clientWidth || scrollHeight > clientHeight) part.tabIndex = 0;
        }
      });
    };
    let frame = 0;
    const paintSoon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(paint);
    };
    const rows = new MutationObserver(paintSoon);
    const place = document.querySelector("main.read");
    if (place !== null) rows.observe(place, { childList: true, subtree: true });
    const end = model.sought.subscribe(paintSoon);
    return () => {
      end();
      rows.disconnect();
      cancelAnimationFrame(frame);
      highlight("sought", [], []);
    };
  }, [model.session.value === undefined]);

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
        onIndex={(index) => void toIndex(index)}
        showsMap={showsMap}
        from={() => list.current?.anchor.index ?? 0}
      />
      {/* The line above all views says that the server is gone. */}
      <Failure text={isReachable.value ? failure : ""} alert />
      {total === 0 ? (
        <p class="empty">This session has no messages yet. New ones appear here.</p>
      ) : start.value === undefined ? (
        <p class="empty" aria-busy="true" />
      ) : (
        <div class="read-body" onWheel={leaveCursor} onPointerDown={leaveCursor}>
          <VirtualList
            control={list}
            total={total}
            label={`Messages of ${session.title}`}
            start={
              start.value.index === undefined
                ? { index: 0, offset: 0 }
                : { index: start.value.index, offset: 16 }
            }
            row={(index) => <SafeRow model={model} index={index} target={target.value} />}
            onRange={({ first, last }) => {
              model.pages.want(first, last);
              top.value = list.current?.anchor.index ?? 0;
            }}
            onEnd={(isEnd) => {
              atEnd.value = isEnd;
              if (isEnd) seen.value = total;
            }}
          />
          {(hasMap.value || showsMap.value === "map") && (
            <SessionMap model={model} at={top.value} onIndex={(index) => void toIndex(index)} />
          )}
        </div>
      )}
      {!atEnd.value && seen.value > 0 && unseen > 0 && (
        <button type="button" class="to-end" onClick={() => list.current?.jumpToEnd()}>
          ↓ {counted(unseen, "new message")}
        </button>
      )}
    </main>
  );
}

/** The delay of the list beside the session, in milliseconds: the messages are painted first. */
const AFTER_PAINT_MS = 50;
const SCROLLS = new Set([" ", "PageUp", "PageDown", "ArrowUp", "ArrowDown"]);
/** Rows that the first view may show. */
const FIRST_ROWS = 12;

/** Whether a message of the first view is more than prose: its raw text should not flash up. */
function needsMarkdown(pages: MessagePages, from: number): boolean {
  const rows = Array.from({ length: FIRST_ROWS }, (_, at) => pages.get(from + at));
  const blocks = rows.flatMap((entry) => entry?.blocks ?? []);
  return blocks.some((block) => block.type === "text" && !isProse(block.text));
}

/** The words of a query that a message may have: without operators and filters. */
function wordsOf(query: string): readonly string[] {
  const words = query.match(/"[^"]+"|\S+/g) ?? [];
  return words
    .filter((word) => !/^(-|\w+:)|^(AND|OR|NOT)$/.test(word))
    .map((word) => word.replace(/["+*()]/g, ""))
    .filter((word) => word.length > 1);
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
