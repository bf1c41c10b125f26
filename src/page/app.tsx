/** The page: authenticates first, then shows the view that the address names. */

import { effect, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { type Address, address, format, go, param } from "./data/address.ts";
import { connection, engine } from "./data/connection.ts";
import { countByAddress } from "./find/facets.ts";
import { Find } from "./find/find.tsx";
import { searchByAddress } from "./find/search.ts";
import { listByAddress, listed, refreshByFeed } from "./find/session-list.ts";
import { QuestionDialog } from "./parts/question.tsx";
import { focusNext, isTyping, ShortcutList, showsShortcuts } from "./parts/shortcuts.tsx";
import { nextTheme, theme } from "./parts/theme.ts";
import { openEarly } from "./read/opened-session.ts";
import { TokenForm } from "./token-form.tsx";

export function App() {
  const state = connection.value;
  switch (state.kind) {
    case "token":
      return <TokenForm message={state.message} />;
    case "failed":
      return <Failed message={state.message} />;
    // The search box appears before the server's first answer; a query typed meanwhile runs then.
    case "connecting":
    case "open":
      return <Views isOpen={state.kind === "open"} />;
  }
}

function Views({ isOpen }: { readonly isOpen: boolean }) {
  const { view } = address.value;
  const showsList = isOpen && view === "find";
  useEffect(() => (showsList ? refreshByFeed() : undefined), [showsList]);
  // Not an effect after the next frame: the list is asked for as soon as there is a connection.
  useLayoutEffect(() => {
    const ends = [searchByAddress(), listByAddress(), countByAddress(), loadReaderWhenIdle()];
    document.addEventListener("keydown", onKey);
    return () => {
      for (const end of ends) end();
      document.removeEventListener("keydown", onKey);
    };
  }, []);
  return (
    <>
      <Bar view={view} />
      {view === "find" ? <Find /> : <LazyView view={view} isOpen={isOpen} />}
      <QuestionDialog />
      <ShortcutList />
    </>
  );
}

const PLACES = [
  { view: "find", words: "Search" },
  { view: "usage", words: "Usage" },
  { view: "memory", words: "Memory" },
  { view: "store", words: "Store" },
] as const;

function Bar({ view }: { readonly view: Address["view"] }) {
  return (
    <header class="bar">
      <a class="brand" href="#/">
        backscroll
      </a>
      <nav aria-label="Views">
        {PLACES.map((place) => (
          <a
            key={place.view}
            href={format(place.view, "", {})}
            aria-current={place.view === view ? "page" : undefined}
          >
            {place.words}
          </a>
        ))}
      </nav>
      <button
        type="button"
        class="quiet theme"
        title={`Theme: ${theme.value}; dark, light, or as the system says (t)`}
        aria-label={`Theme: ${theme.value}`}
        onClick={nextTheme}
      >
        {theme.value === "system" ? "◐" : theme.value === "dark" ? "●" : "○"}
      </button>
      <button
        type="button"
        class="quiet wide-only"
        title="Keyboard (?)"
        aria-label="Keyboard"
        onClick={() => {
          showsShortcuts.value = true;
        }}
      >
        ?
      </button>
    </header>
  );
}

type LazyName = Exclude<Address["view"], "find">;

/** Other views are loaded on first use. */
const LOADERS: Readonly<Record<LazyName, () => Promise<ComponentType>>> = {
  session: async () => (await import("./read/read.tsx")).Read,
  usage: async () => (await import("./usage/usage.tsx")).Usage,
  memory: async () => (await import("./keep/memory.tsx")).MemoryView,
  store: async () => (await import("./keep/store.tsx")).StoreView,
};

const loaded = new Map<LazyName, Signal<ComponentType | undefined>>();

function LazyView({ view, isOpen }: { readonly view: LazyName; readonly isOpen: boolean }) {
  const View = viewOf(view).value;
  return View === undefined || !isOpen ? <p class="empty" aria-busy="true" /> : <View />;
}

function viewOf(view: LazyName): Signal<ComponentType | undefined> {
  const known = loaded.get(view);
  if (known !== undefined) return known;
  if (view === "session" && address.peek().view === "session") openAlready();
  const coming = signal<ComponentType | undefined>(undefined);
  loaded.set(view, coming);
  LOADERS[view]().then(
    (component) => {
      coming.value = component;
    },
    () => {
      // The server has another version by now: its page knows its own files.
      location.reload();
    },
  );
  return coming;
}

/** For a link into a session: fetches its messages while the code of the view loads. */
function openAlready(): void {
  const end = connection.subscribe((state) => {
    const { view, id } = address.peek();
    if (state.kind !== "open" || view !== "session") return;
    openEarly(engine.peek(), { id, leaf: param("leaf"), at: param("m") });
    // `subscribe` calls back before it returns `end`.
    queueMicrotask(() => end());
  });
}

/** Loads the code of the session view when the list is shown and the browser is idle. */
function loadReaderWhenIdle(): () => void {
  return effect(() => {
    if (!listed.value.ready) return;
    const load = () => void viewOf("session");
    if ("requestIdleCallback" in globalThis) requestIdleCallback(load);
    else setTimeout(load, 500);
  });
}

function Failed({ message }: { readonly message: string }) {
  return (
    <main class="empty">
      <h1>The server does not answer</h1>
      <p class="failure">{message}</p>
      <button type="button" class="main" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}

let afterG = 0;

function onKey(event: KeyboardEvent): void {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    toSearch();
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) {
    return;
  }
  if (isTyping(event)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    if (event.key === "ArrowDown" && (event.target as HTMLElement).id === "query") {
      event.preventDefault();
      focusNext(1);
    }
    return;
  }
  const isAfterG = event.timeStamp - afterG < 1_000;
  const place = isAfterG ? { u: "usage", m: "memory", s: "store" }[event.key] : undefined;
  if (place !== undefined) go(format(place as Address["view"], "", {}));
  else KEYS[event.key]?.(event);
}

const KEYS: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
  "/": (event) => {
    event.preventDefault();
    toSearch();
  },
  "?": () => {
    showsShortcuts.value = true;
  },
  g: (event) => {
    afterG = event.timeStamp;
  },
  t: nextTheme,
  j: () => focusNext(1),
  k: () => focusNext(-1),
  o: () => (document.activeElement as HTMLElement | null)?.click(),
  u: () => {
    if (address.peek().view !== "find") history.back();
  },
};

function toSearch(): void {
  if (address.peek().view !== "find") go("#/");
  // The box is there once the view is.
  requestAnimationFrame(() => {
    const box = document.querySelector<HTMLInputElement>("#query");
    box?.focus();
    box?.select();
  });
}
