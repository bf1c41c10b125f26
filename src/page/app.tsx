/** The page: authenticates first, then shows the view that the address names. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, format, go, param } from "./data/address.ts";
import { connection } from "./data/connection.ts";
import type { Address } from "./data/early-requests.ts";
import { isReachable, mended } from "./data/reach.ts";
import { listShown } from "./find/beside.ts";
import { Find } from "./find/find.tsx";
import { refreshByFeed } from "./find/session-list.ts";
import { type LazyName, viewOf } from "./lazy-views.ts";
import {
  focusNext,
  isTyping,
  QuestionDialog,
  ShortcutList,
  setTo,
  showsShortcuts,
} from "./parts/controls.tsx";
import { hasTwoPanes } from "./parts/media.ts";
import { showTab, tab } from "./parts/tab.ts";

export function App() {
  const state = connection.value;
  switch (state.kind) {
    case "token":
      return <LazyView view="token" isOpen />;
    case "failed":
      return <Failed message={state.message} />;
    // The search box is rendered before the server's first answer; a query typed meanwhile runs after it.
    case "connecting":
    case "open":
      return <Views isOpen={state.kind === "open"} />;
  }
}

function Views({ isOpen }: { readonly isOpen: boolean }) {
  const { view } = address.value;
  const showsList = isOpen && listShown.value;
  useEffect(() => (showsList ? refreshByFeed() : undefined), [showsList, mended.value]);
  useEffect(showTab, []);
  useEffect(() => {
    const place = PLACES.find((one) => one.view === view);
    // The reader names the tab of a session.
    if (place === undefined) return;
    const { words, sign } = place;
    tab.value = { words: view === "find" ? param("q") : words, sign };
  }, [address.value]);
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <Bar view={view} />
      {!isReachable.value && (
        <p class="lost" role="alert">
          The server does not answer. This page goes on as soon as it does.
        </p>
      )}
      {hasTwoPanes.value && (view === "find" || view === "session") ? (
        <div class="panes">
          <Find />
          <LazyView view={view === "find" ? "start" : view} isOpen={isOpen} />
        </div>
      ) : view === "find" ? (
        <Find />
      ) : (
        <LazyView view={view} isOpen={isOpen} />
      )}
      <QuestionDialog />
      <ShortcutList />
    </>
  );
}

const PLACES = [
  { view: "find", words: "Search", sign: "⌕" },
  { view: "usage", words: "Usage", sign: "◷" },
  { view: "memory", words: "Memory", sign: "✎" },
  { view: "store", words: "Store", sign: "≡" },
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
        onClick={setTo(showsShortcuts, true)}
      >
        ?
      </button>
    </header>
  );
}

function LazyView({ view, isOpen }: { readonly view: LazyName; readonly isOpen: boolean }) {
  const View = viewOf(view).value;
  return View === undefined || !isOpen ? <p class="empty" aria-busy="true" /> : <View />;
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

/** When `g` was pressed last. */
let afterG = Number.NEGATIVE_INFINITY;

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
  "?": setTo(showsShortcuts, true),
  g: (event) => {
    afterG = event.timeStamp;
  },
  t: nextTheme,
  j: () => focusNext(1),
  k: () => focusNext(-1),
  o: () => (document.activeElement as HTMLElement | null)?.click(),
  u: () => {
    if (address.peek().view === "find") return;
    const row = document.querySelector<HTMLElement>(".panes .find [aria-current][data-item]");
    if (row !== null && document.activeElement !== row) row.focus();
    else history.back();
  },
};

function toSearch(): void {
  if (!listShown.peek()) go("#/");
  // The box exists after the view is rendered.
  requestAnimationFrame(() => {
    const box = document.querySelector<HTMLInputElement>("#query");
    box?.focus();
    box?.select();
  });
}

// The theme: the system's, dark or light.

const KEPT = "backscroll-theme";

type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

const theme = signal<Theme>(read());

function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  localStorage.setItem(KEPT, theme.value);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}

function read(): Theme {
  const kept = localStorage.getItem(KEPT);
  return THEMES.find((one) => one === kept) ?? "system";
}
