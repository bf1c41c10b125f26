/** A command without output filters, so that equal runs have equal texts. */

const REDIRECTED = /\s+2>&1(?=\s|$)|\s+2>\s*\/dev\/null(?=\s|$)/g;
const SHORTENED = /\s*\|\s*(tail|head|less|cat|wc)(\s+-{0,2}[\w=]+)*\s*$/;

export function bareCommand(command: string): string {
  let bare = command.replace(REDIRECTED, "").replace(/\s+/g, " ").trim();
  while (SHORTENED.test(bare)) bare = bare.replace(SHORTENED, "");
  return bare;
}
