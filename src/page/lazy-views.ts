/** The views whose code is loaded on first use. */

import { effect, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { address, param } from "./data/address.ts";
import { connection, engine } from "./data/connection.ts";
import type { Address } from "./data/early-requests.ts";
import { listed } from "./find/session-list.ts";
import { whenIdle } from "./parts/idle.ts";
import { openEarly } from "./read/opened-session.ts";

export type LazyName = Exclude<Address["view"], "find">;

const LOADERS: Readonly<Record<LazyName, () => Promise<ComponentType>>> = {
  session: async () => (await import("./read/read.tsx")).Read,
  usage: async () => (await import("./usage/usage.tsx")).Usage,
  memory: async () => (await import("./keep/memory.tsx")).MemoryView,
  store: async () => (await import("./keep/store.tsx")).StoreView,
};

const loaded = new Map<LazyName, Signal<ComponentType | undefined>>();

/** The view once it is loaded. The first call for a view loads it. */
export function viewOf(view: LazyName): Signal<ComponentType | undefined> {
  const known = loaded.get(view);
  if (known !== undefined) return known;
  const coming = signal<ComponentType | undefined>(undefined);
  loaded.set(view, coming);
  const loading = LOADERS[view]();
  // The code is requested first: it arrives later than the messages, and must be evaluated.
  if (view === "session" && address.peek().view === "session") openAlready();
  loading.then(
    (component) => {
      coming.value = component;
    },
    () => {
      // The server was upgraded and no longer has this version's files: the new document names its own.
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
export function loadReaderWhenIdle(): void {
  effect(() => {
    if (!listed.value.ready) return;
    whenIdle(() => void viewOf("session"));
  });
}
