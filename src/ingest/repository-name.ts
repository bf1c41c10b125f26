/** The normalised name of a repository. */

/** `git@host:a/b.git`, `https://user:token@host/a/b` and `ssh://host/a/b` are one repository. */
export function normalizeRemote(url: string): string {
  const [, host, path] =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(url) ??
    /^(?:[^@/\s]+@)?([^/:\s]+):(?!\/\/)(.+)$/.exec(url) ??
    [];
  const plain = host === undefined ? url : `${host.toLowerCase()}/${path?.replace(/^\/+/, "")}`;
  return plain.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "");
}
