import { type Command, defineCommand } from "../../command.ts";
import { completionScript, SHELLS } from "../../completions.ts";
import { EXIT } from "../../exit.ts";
import { toChoice } from "../../values.ts";

/** `all` gives the table of commands, which includes this one. */
export const completions = (all: () => readonly Command[]): Command =>
  defineCommand({
    name: "completions",
    summary: "Print a script that completes commands and options in a shell.",
    details:
      'For bash: eval "$(backscroll completions bash)" in ~/.bashrc. For zsh: the same with zsh in ~/.zshrc, after compinit. For fish: backscroll completions fish > ~/.config/fish/completions/backscroll.fish.',
    arguments: [{ name: "SHELL", help: `${SHELLS.join(", ")}.` }],
    examples: ["completions bash"],
    run: async ({ terminal }, args) => {
      const shell = toChoice(args.SHELL, SHELLS, "SHELL");
      if (shell !== undefined) await terminal.write(completionScript(shell, all()));
      return EXIT.ok;
    },
  });
