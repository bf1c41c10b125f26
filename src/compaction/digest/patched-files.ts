/** The files named in a patch: `apply_patch` format or unified diff. */

/** In patch order, each once. */
export function patchedFiles(patch: string): string[] {
  const files = new Set<string>();
  const lines = patch.split(/\r?\n/);
  lines.forEach((line, i) => {
    const named = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/.exec(line)?.[1];
    if (named !== undefined) files.add(named.trim());
    // A removed line can look like half a header, but hardly like a whole one.
    const next = lines[i + 1] ?? "";
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      files.add(diffName(next) ?? diffName(line) ?? "");
    }
  });
  files.delete("");
  return [...files];
}

/** The file of a header line; undefined if that side has none. */
function diffName(header: string): string | undefined {
  const name = header.slice(4).split("\t")[0]?.trim() ?? "";
  return name === "/dev/null" ? undefined : name.replace(/^[ab]\//, "");
}
