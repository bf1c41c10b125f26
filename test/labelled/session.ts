/** A session of the labelled set, written as a dialogue. */

export interface DialogueMessage {
  /** A `tool` message is a call: `actor` is the tool's name, `text` its input. */
  readonly role: "user" | "assistant" | "tool";
  readonly actor: string;
  readonly text: string;
}

export interface Dialogue {
  readonly id: string;
  readonly date: string;
  readonly project: string;
  readonly messages: readonly DialogueMessage[];
}

const SPEAKER = /^(user|assistant|tool)(?: ([\w.-]+))?: (.*)$/;

/**
 * Each message begins with `user:`, `assistant:` or `tool Name:`; lines without one continue the
 * message before.
 */
export function dialogue(id: string, date: string, project: string, text: string): Dialogue {
  const messages: { role: DialogueMessage["role"]; actor: string; text: string }[] = [];
  for (const line of text.trim().split("\n")) {
    const [, role, name, rest] = SPEAKER.exec(line) ?? [];
    const last = messages.at(-1);
    if (role !== undefined) {
      messages.push({
        role: role as DialogueMessage["role"],
        actor: name ?? role,
        text: rest ?? "",
      });
    } else if (last !== undefined) {
      last.text += `\n${line}`;
    }
  }
  return { id, date, project, messages };
}
