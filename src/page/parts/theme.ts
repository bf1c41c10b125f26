/** The theme: the system's, dark or light. */

import { signal } from "@preact/signals";

const KEPT = "backscroll-theme";

export type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(read());

export function nextTheme(): void {
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
