/** A path relative to its project; other paths unchanged. */
export function relativeTo(project: string | undefined, path: string): string {
  if (project === undefined || project === "") return path;
  const folder = project.endsWith("/") ? project : `${project}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
