/** The title and the icon of the tab. */

import { effect, signal } from "@preact/signals";

interface Tab {
  readonly words: string;
  /** A letter or a sign. */
  readonly sign: string;
  readonly isLive?: boolean;
}

export const tab = signal<Tab>({ words: "", sign: "" });

export function showTab(): () => void {
  return effect(() => {
    const { words, sign, isLive } = tab.value;
    document.title = words === "" ? "Backscroll" : `${words} · Backscroll`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null) icon.href = `data:image/svg+xml,${encodeURIComponent(draw(sign, isLive))}`;
  });
}

function draw(sign: string, isLive = false): string {
  // Only letters, digits and our own signs come into the drawing.
  const shown = /^[\p{L}\p{N}⌕◷≡✎]$/u.test(sign) ? sign : "b";
  const live = isLive ? '<circle cx="26" cy="6" r="6" fill="#35b24a"/>' : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a6b66"/><text x="16" y="23" font-size="21" font-family="sans-serif" font-weight="bold" text-anchor="middle" fill="#fff">${shown}</text>${live}</svg>`;
}
