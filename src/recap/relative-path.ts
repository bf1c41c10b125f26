/** A path within a project as one names it there; other paths as they are. */
export function relativeTo(project: string | undefined, path: string): string {
  if (project === undefined || project === "") return path;
  const folder = project.endsWith("/") ? project : `${project}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
