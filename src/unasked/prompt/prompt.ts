import type { Asker } from "../asker.ts";
import type { Verdict } from "../moment.ts";
export async function askPrompt(_asker: Asker, _text: string): Promise<Verdict> {
  return { reason: "unsure" };
}
