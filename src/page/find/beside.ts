/** The list or the hits, alone or beside the open session: when they are shown, and the addresses of both. */

import { computed, signal } from "@preact/signals";
import { address, format, type Params, param } from "../data/address.ts";
import { hasTwoPanes } from "../parts/media.ts";

/** Whether the messages of the open session were painted: the list beside it comes after them. */
export const readerShown = signal(false);

export const listShown = computed(() => {
  const { view } = address.value;
  return view === "find" || (view === "session" && hasTwoPanes.value && readerShown.value);
});

/** The address of a list or a search. The session beside it stays open. */
export function listAddress(params: Params): string {
  const { view, id } = address.value;
  if (view !== "session" || !hasTwoPanes.value) return format("find", "", params);
  return format("session", id, { ...params, m: param("m"), leaf: param("leaf") });
}
