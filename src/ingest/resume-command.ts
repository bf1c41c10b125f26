/** Commands that open a session in its own agent. */

/**
 * `command` followed by the id. Null for an id with shell metacharacters: ids come from foreign
 * files, and users paste the command.
 */
export function commandFor(command: string, id: string): string | null {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id) ? `${command}${id}` : null;
}
