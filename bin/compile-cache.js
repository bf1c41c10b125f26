/**
 * Caches compiled code, so that the next command starts in half the time.
 *
 * Node runs what it finds in this cache: whoever may write there may run code as us. So the folder
 * is ours, in the user's own cache folder, with nobody else allowed to write; else there is none.
 * Node's default, a name that everyone knows in the system's temporary folder, is not used.
 */

import { lstatSync, mkdirSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** The folder for the code of this user; undefined: there is no safe one. */
export function cacheFolder(env = process.env, home = homedir()) {
  try {
    // Windows keeps this folder to its user.
    const local = process.platform === "win32" ? env.LOCALAPPDATA : env.XDG_CACHE_HOME;
    const base = local !== undefined && isAbsolute(local) ? local : join(home, ".cache");
    const folder = join(base, "backscroll", "compiled");
    if (process.platform === "win32") return folder;
    // With sudo the home may be another user's: nothing of ours belongs there.
    if (lstatSync(home).uid !== process.getuid()) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const isSafe = isOurs(base, 0o002) && isOurs(dirname(folder)) && isOurs(folder);
    return isSafe ? folder : undefined;
  } catch {
    // No home, a read-only one, a file in the way: commands start without it.
    return undefined;
  }
}

/** A link is not, nor a folder that others may write. A group of one's own may write `~/.cache`. */
function isOurs(folder, others = 0o022) {
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & others) === 0;
}

/** A user who sets NODE_COMPILE_CACHE has chosen a folder: Node has opened it by now. */
export function cacheCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE) return;
  const folder = cacheFolder();
  if (folder !== undefined) module.enableCompileCache?.(folder);
}
