/** The views whose code is loaded on first use. */

import { effect, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { Address } from "./data/early-requests.ts";
import { listed } from "./find/session-list.ts";
import { whenIdle } from "./parts/idle.ts";

export type LazyName = Exclude<Address["view"], "find"> | "start" | "token";

const LOADERS: Readonly<Record<LazyName, () => Promise<ComponentType>>> = {
  start: async () => (await import("./keep/start.tsx")).Start,
  session: async () => (await import("./read/read.tsx")).Read,
  usage: async () => (await import("./usage/usage.tsx")).Usage,
  memory: async () => (await import("./keep/memory.tsx")).MemoryView,
  token: async () => (await import("./keep/token-form.tsx")).TokenForm,
  store: async () => (await import("./keep/store.tsx")).StoreView,
};

const loaded = new Map<LazyName, Signal<ComponentType | undefined>>();

/** The view once it is loaded. The first call for a view loads it. */
export function viewOf(view: LazyName): Signal<ComponentType | undefined> {
  const known = loaded.get(view);
  if (known !== undefined) return known;
  const coming = signal<ComponentType | undefined>(undefined);
  loaded.set(view, coming);
  LOADERS[view]().then(
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

/** Loads the code of the session view when the list is shown and the browser is idle. */
export function loadReaderWhenIdle(): void {
  effect(() => {
    if (!listed.value.ready) return;
    whenIdle(() => void viewOf("session"));
  });
}
