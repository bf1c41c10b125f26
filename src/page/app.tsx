/** The page: authenticates first, then shows the view that the address names. */

import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, format, go } from "./data/address.ts";
import { connection, enterToken } from "./data/connection.ts";
import type { Address } from "./data/early-requests.ts";
import { Find } from "./find/find.tsx";
import { refreshByFeed } from "./find/session-list.ts";
import { type LazyName, viewOf } from "./lazy-views.ts";
import {
  Failure,
  focusNext,
  isTyping,
  QuestionDialog,
  ShortcutList,
  setTo,
  showsShortcuts,
} from "./parts/controls.tsx";

export function App() {
  const state = connection.value;
  switch (state.kind) {
    case "token":
      return <TokenForm message={state.message} />;
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
  const showsList = isOpen && view === "find";
  useEffect(() => (showsList ? refreshByFeed() : undefined), [showsList]);
  useEffect(() => {
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
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
  "?": setTo(showsShortcuts, true),
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
  // The box exists after the view is rendered.
  requestAnimationFrame(() => {
    const box = document.querySelector<HTMLInputElement>("#query");
    box?.focus();
    box?.select();
  });
}

/** A form for the access token, if the server requires one. */
function TokenForm({ message }: { readonly message: string }) {
  const token = useSignal("");
  const keep = useSignal(false);
  const isSending = useSignal(false);
  const send = async () => {
    isSending.value = true;
    await enterToken(token.value, keep.value);
    isSending.value = false;
  };
  return (
    <main class="token">
      <h1>Backscroll</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token.value}
          onInput={(event) => {
            token.value = event.currentTarget.value;
          }}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={keep.value}
            onChange={(event) => {
              keep.value = event.currentTarget.checked;
            }}
          />
          Keep it until this tab is closed
        </label>
        <button type="submit" class="main" disabled={isSending.value}>
          Open
        </button>
        <Failure text={message} alert />
      </form>
      <p class="about">
        The operator of the server creates one: <code>backscroll token create --scope read</code>
      </p>
    </main>
  );
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
