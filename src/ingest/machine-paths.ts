/** Paths, repositories and commands of the machine that wrote a transcript. Paths have `/`, which all platforms accept. */

import type { Environment } from "./source.ts";

export function joinPath(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part, i) => (i === 0 ? part.replace(/(?<![/\\])[/\\]+$/, "") : part))
    .join("/");
}

/** The folder of a variable, or its default. */
export function folderOf(environment: Environment, variable: string, otherwise: string): string {
  const named = environment.variables[variable];
  return named === undefined || named === "" ? otherwise : expandHome(named, environment.home);
}

/** The folder of desktop programs' user data. */
export function applicationFolder(environment: Environment): string {
  const { home, platform } = environment;
  if (platform === "darwin") return joinPath(home, "Library/Application Support");
  if (platform === "win32") {
    return folderOf(environment, "APPDATA", joinPath(home, "AppData/Roaming"));
  }
  return folderOf(environment, "XDG_CONFIG_HOME", joinPath(home, ".config"));
}

/** The last name of a path, with either separator. */
export function fileName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? "";
}

/** The name of the folder `levels` above the file: 1 is its own. */
export function folderName(path: string, levels = 1): string {
  return path.split(/[/\\]/).at(-1 - levels) ?? "";
}

/** The path of a `file:` URI, also on Windows; null for anything else. */
export function pathOfUri(uri: string): string | null {
  if (!uri.startsWith("file:") || !URL.canParse(uri)) return null;
  try {
    return decodeURIComponent(new URL(uri).pathname).replace(/^\/(?=[A-Za-z]:)/, "");
  } catch {
    // A percent sign that encodes nothing: the path is unknown.
    return null;
  }
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? joinPath(home, path.slice(2)) : path;
}

/** `git@host:a/b.git`, `https://user:token@host/a/b` and `ssh://host/a/b` are one repository. */
export function normalizeRemote(url: string): string {
  const [, host, path] =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(url) ??
    /^(?:[^@/\s]+@)?([^/:\s]+):(?!\/\/)(.+)$/.exec(url) ??
    [];
  const plain = host === undefined ? url : `${host.toLowerCase()}/${path?.replace(/^\/+/, "")}`;
  return plain.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "");
}

/**
 * `command` followed by the id. Null for an id with shell metacharacters: ids come from foreign
 * files, and users paste the command.
 */
export function commandFor(command: string, id: string): string | null {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) ? `${command}${id}` : null;
}
