import { homedir } from "node:os";
import { loadConfig } from "../../../gateway/config/read-config.ts";
import { UNASKED_MODES } from "../../../gateway/config/settings.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { editConfig } from "../../setup/config-file.ts";
import { setJson } from "../../setup/jsonc-edit.ts";
import { toChoice } from "../../values.ts";

/** As in the configuration. */
export const KINDS = ["errors", "starts", "files", "prompts"] as const;
export type Kind = (typeof KINDS)[number];
type Mode = (typeof UNASKED_MODES)[number];

const SAID: Readonly<Record<Mode, string>> = {
  on: "speaks",
  log: "notes down what it would say",
  off: "is silent",
};

const MOMENTS: Readonly<Record<Kind, string>> = {
  errors: "a command failed",
  starts: "a session starts",
  files: "a file was read",
  prompts: "a prompt was submitted",
};

const ARGUMENT = {
  name: "MOMENT",
  many: true,
  optional: true,
  help: `${KINDS.join(", ")}; all if left out.`,
} as const;

export const unaskedOn: Command = defineCommand({
  name: "unasked on",
  summary: "Let memory speak unasked in some moments, or in all.",
  details: "Writes the configuration file; it holds at once. unasked preview says what to expect.",
  arguments: [ARGUMENT],
  examples: ["unasked on errors starts"],
  run: (context, { MOMENT: named }) => change(context, named, "on"),
});

export const unaskedOff: Command = defineCommand({
  name: "unasked off",
  summary: "Silence unasked memory in some moments, or in all.",
  details: "Writes the configuration file; it holds at once. Nothing is noted down either.",
  arguments: [ARGUMENT],
  examples: ["unasked off prompts"],
  run: (context, { MOMENT: named }) => change(context, named, "off"),
});

export const unaskedNote: Command = defineCommand({
  name: "unasked note",
  summary: "Only note down what memory would say, in some moments or in all.",
  details: "Writes the configuration file; it holds at once. unasked log lists what was noted.",
  arguments: [ARGUMENT],
  examples: ["unasked note files prompts"],
  run: (context, { MOMENT: named }) => change(context, named, "log"),
});

export const unasked: Command = defineCommand({
  name: "unasked",
  summary: "Show in which moments memory speaks unasked.",
  examples: ["unasked"],
  run: (context) => print(context),
});

async function change(
  context: Context,
  named: readonly string[] | undefined,
  mode: Mode,
): Promise<void> {
  const kinds = (named ?? []).map((each) => toChoice(each, KINDS, "MOMENT") ?? each);
  await setModes(kinds.length === 0 ? KINDS : (kinds as Kind[]), mode);
  await print(context);
}

export async function setModes(kinds: readonly Kind[], mode: Mode): Promise<void> {
  const { path } = loadConfig(homedir(), process.env);
  const edit = (text: string | undefined) =>
    kinds.reduce((edited, kind) => setJson(edited, ["unasked", kind], mode), text ?? "");
  await editConfig(path, edit, { copySuffix: () => undefined });
}

async function print({ terminal, json }: Context): Promise<void> {
  const { settings } = loadConfig(homedir(), process.env);
  const modes = KINDS.map((kind) => {
    const value = settings.find(({ key }) => key === `unasked.${kind}`)?.value;
    return [kind, UNASKED_MODES.find((mode) => mode === value) ?? "off"] as const;
  });
  if (json) return terminal.printJson(Object.fromEntries(modes));
  for (const [kind, mode] of modes) {
    await terminal.print(
      `${kind.padEnd(8)} ${mode.padEnd(4)} When ${MOMENTS[kind]}, memory ${SAID[mode]}.`,
    );
  }
}
