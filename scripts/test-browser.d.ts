export interface Browser {
  readonly path: string;
  /** Added to the environment that the browser starts with. */
  readonly env: Readonly<Record<string, string>>;
}

export const HOW_TO_GET_A_BROWSER: string;

/** @throws when `CHROMIUM_PATH` names a file that cannot be run. */
export function findBrowser(): Browser | undefined;

export function installBrowser(npm: (what: string, args: string[], cwd: string) => boolean): void;
