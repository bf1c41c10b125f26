/** Opens a URL in this machine's browser. */

import { spawn } from "node:child_process";
import { BackscrollError } from "../../model/errors.ts";

/** Undefined without a display. */
export function browserCommand(
  platform: NodeJS.Platform,
  variables: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = variables;
  if (BROWSER) return [BROWSER];
  if (platform === "darwin") return ["open"];
  // `start` treats a quoted first word as a window title.
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  return DISPLAY || WAYLAND_DISPLAY ? ["xdg-open"] : undefined;
}

/** False if there is no browser, or it does not start. Does not wait for it to end. */
export function openBrowser(address: string): Promise<boolean> {
  // It becomes a command's argument: only http URLs are allowed.
  if (!/^https?:\/\/[^\s"'`^&|<>$\\]+$/.test(address)) {
    throw new BackscrollError("invalid_address", `${address.slice(0, 80)} cannot be opened`);
  }
  const [file, ...words] = browserCommand(process.platform, process.env) ?? [];
  if (file === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(file, [...words, address], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
