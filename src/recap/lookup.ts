/** Recognises read-only commands, which a recap leaves out. */

const LOOKING = new Set(
  `ls ll cat bat head tail less more grep rg egrep fgrep ag find fd pwd echo printf wc which type
  file stat tree du df ps env date whoami hostname diff sort uniq cut awk jq xxd sleep true cd
  export set test [`.split(/\s+/),
);
const GIT_LOOKING = new Set(
  "status log diff show branch blame grep ls-files rev-parse remote describe".split(" "),
);

/** Whether each part of a chain or a pipeline is read-only. Unknown commands are not. */
export function isLookup(command: string): boolean {
  // Quoted text is an argument, unless it has a command substitution.
  if (command.includes("$(") || command.includes("`")) return false;
  const bare = command.replace(/'[^']*'|"[^"]*"/g, "TEXT");
  // A here-document or a redirection writes.
  if (/<<|(^|[^0-9&])>(?!\s*\/dev\/null|&)/.test(bare)) return false;
  const parts = bare.split(/&&|\|\||[;|\n]/).map((part) => part.trim());
  return parts.every((part) => part === "" || part.startsWith("#") || looks(part));
}

function looks(part: string): boolean {
  const words = part.split(/\s+/).filter((word) => !/^\w+=/.test(word));
  const [program = "", ...args] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "git") {
    const verb = args.filter((word, i) => !word.startsWith("-") && args[i - 1] !== "-C")[0] ?? "";
    return GIT_LOOKING.has(verb);
  }
  if (name === "gh") return looksAtGitHub(args, part);
  if (name === "sed") return args.includes("-n") && !args.includes("-i");
  if (name === "find" && /-(delete|exec)/.test(part)) return false;
  return LOOKING.has(name);
}

function looksAtGitHub([group = "", verb = ""]: readonly string[], part: string): boolean {
  if (group === "api") return !/\s(-f|-F|-X|--method|--field|--input)\b/.test(part);
  return ["view", "diff", "list", "checks", "status"].includes(verb);
}
