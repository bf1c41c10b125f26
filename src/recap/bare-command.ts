/** A command without output filters, so that equal runs have equal texts. */

const REDIRECTED = / 2>(?:&1| ?\/dev\/null)(?= |$)/g;
const SHORTENS = /^ ?(?:tail|head|less|cat|wc)(?: -{0,2}[\w=]+)* ?$/;

export function bareCommand(command: string): string {
  const parts = command.replace(/\s+/g, " ").trim().replace(REDIRECTED, "").split("|");
  while (parts.length > 1 && SHORTENS.test(parts.at(-1) ?? "")) parts.pop();
  return parts.join("|").trim();
}
