/** The supported formats. CONTRIBUTING.md lists the places that a new one adds to. */

import { AIDER } from "./aider/aider.ts";
import { AMP } from "./amp/amp.ts";
import { ANTIGRAVITY, ANTIGRAVITY_IDE } from "./antigravity/antigravity.ts";
import { ATIF } from "./atif/atif.ts";
import { CHATGPT } from "./chatgpt/chatgpt.ts";
import { CLAUDE_AI } from "./claude-ai/claude-ai.ts";
import { CLAUDE_CODE } from "./claude-code/claude-code.ts";
import { CLAW_CODE } from "./claw-code/claw-code.ts";
import { CLINE, KILO_CODE, ROO_CODE } from "./cline/cline.ts";
import { CODEX } from "./codex/codex.ts";
import { CONTINUE } from "./continue/continue.ts";
import { COPILOT_CHAT } from "./copilot-chat/copilot-chat.ts";
import { COPILOT_CLI } from "./copilot-cli/copilot-cli.ts";
import { CRABTALK } from "./crabtalk/crabtalk.ts";
import { CRUSH } from "./crush/crush.ts";
import { CURSOR, CURSOR_EDITOR } from "./cursor/cursor.ts";
import { DROID } from "./droid/droid.ts";
import { GEMINI_CLI } from "./gemini-cli/gemini-cli.ts";
import { GOOSE, GOOSE_FILES } from "./goose/goose.ts";
import { GROK_BUILD } from "./grok-build/grok-build.ts";
import { HERMES } from "./hermes/hermes.ts";
import { beginsLikeJson, JsonOutline } from "./json-outline.ts";
import { KIMI } from "./kimi/kimi.ts";
import { KIMI_CODE } from "./kimi/kimi-code.ts";
import { KIRO } from "./kiro/kiro.ts";
import { KIRO_DATABASE } from "./kiro/kiro-database.ts";
import { OPENCLAW } from "./openclaw/openclaw.ts";
import { OPENCLAW_DATABASE } from "./openclaw/openclaw-database.ts";
import { KILO, OPENCODE, OPENCODE_FILES } from "./opencode/opencode.ts";
import { OPENCODE_EXPORT } from "./opencode/opencode-export.ts";
import { OPENHANDS } from "./openhands/openhands.ts";
import { PI } from "./pi/pi.ts";
import { QWEN_CODE } from "./qwen-code/qwen-code.ts";
import type { TranscriptSource } from "./source.ts";
import { SPECSTORY } from "./specstory/specstory.ts";
import { VIBE } from "./vibe/vibe.ts";
import { WINDSURF } from "./windsurf/windsurf.ts";
import { ZED } from "./zed/zed.ts";

/** The first match reads a file: claw-code's headers are less specific than Codex's. */
export const SOURCES: readonly TranscriptSource[] = [
  CLAUDE_CODE,
  CODEX,
  CLAW_CODE,
  PI,
  COPILOT_CLI,
  GEMINI_CLI,
  OPENCODE,
  KILO,
  OPENCODE_FILES,
  OPENCODE_EXPORT,
  CURSOR,
  CURSOR_EDITOR,
  CLINE,
  ROO_CODE,
  KILO_CODE,
  AIDER,
  CHATGPT,
  CLAUDE_AI,
  OPENCLAW,
  OPENCLAW_DATABASE,
  CRABTALK,
  QWEN_CODE,
  GOOSE,
  GOOSE_FILES,
  HERMES,
  CRUSH,
  KIMI,
  KIMI_CODE,
  COPILOT_CHAT,
  DROID,
  OPENHANDS,
  CONTINUE,
  ANTIGRAVITY,
  ANTIGRAVITY_IDE,
  AMP,
  GROK_BUILD,
  ZED,
  ATIF,
  SPECSTORY,
  KIRO,
  KIRO_DATABASE,
  VIBE,
  WINDSURF,
];

/** The size of the head by which formats are recognised. */
export const HEAD_BYTES: number = 64 * 1024;

/**
 * The format of a file that begins with `head`; `first` is tried first. Where the first line, or a
 * value of a document, is longer than the head, the fields that tell may come after it: then the
 * file is outlined from `whole`, its bytes from the start.
 */
export async function recogniseStart(
  head: Uint8Array,
  whole: () => AsyncIterable<Uint8Array>,
  recognise: (head: Uint8Array) => TranscriptSource | undefined,
): Promise<TranscriptSource | undefined> {
  const isWhole = head.length < HEAD_BYTES;
  if (isWhole || !beginsLikeJson(head)) return recognise(head);
  // The head of an unfinished line is no evidence while the line itself can be had.
  const isOneLine = !head.includes(NEWLINE);
  const found = isOneLine ? undefined : recognise(head);
  if (found !== undefined) return found;
  const outline = new JsonOutline(HEAD_BYTES);
  for await (const chunk of whole()) if (!outline.push(chunk)) break;
  return recognise(outline.head) ?? (isOneLine ? recognise(head) : undefined);
}

const NEWLINE = 0x0a;

/** The format by a head alone. */
export function recogniseSource(
  head: Uint8Array,
  path: string,
  sources: readonly TranscriptSource[] = SOURCES,
  first?: TranscriptSource,
): TranscriptSource | undefined {
  // A view of its own: what is made of a head is kept for it, and the file reader reuses the bytes.
  const view = head.subarray();
  if (first?.recognise(view, path)) return first;
  return sources.find((source) => source !== first && source.recognise(view, path));
}
