/**
 * Random contexts, malformed ones included.
 *
 * Ids come from a small set, so that calls and results match, miss each other and collide. Each visible
 * text begins with a unique mark, `#7 `.
 */

import fc from "fast-check";
import type { ContextMessage } from "../../src/context/chat-model.ts";
import type { Block } from "../../src/model/block.ts";

export function randomContext(): fc.Arbitrary<ContextMessage[]> {
  return fc.array(MESSAGE, { maxLength: 14 }).map(markTexts);
}

const TEXT = fc.oneof(
  fc.constantFrom(
    "",
    " \n\t",
    "hello",
    "日本語の文章",
    "half \ud83d",
    "\udc00x",
    "ends  \n",
    "a\0b",
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
);

const ID = fc.constantFrom(
  "call_1",
  "call_2",
  "call_3",
  "toolu_01ABC",
  "abcdefghi",
  "a.b",
  "a-b",
  "call|fc_1",
  "",
  " ",
  "呼び出し",
  "half\ud800",
  "x".repeat(40),
  "x".repeat(41),
  "x".repeat(200),
);

const NAME = fc.constantFrom("read", "shell.run", "検索", "", "1st", "n".repeat(150), "mcp__a__b");

const INPUT = fc.constantFrom(
  '{"path":"a"}',
  "{}",
  "",
  "null",
  "{broken",
  "[1]",
  '"text"',
  '{"n":1e999}',
  '{"s":"\\ud800"}',
  '{"__proto__":{"x":1}}',
  '{"big":12345678901234567890}',
  "\ud800",
  `${'{"a":'.repeat(300)}1${"}".repeat(300)}`,
);

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";

const IMAGE: fc.Arbitrary<Block> = fc.constantFrom<Block>(
  { type: "image", data: PNG, mediaType: "image/png" },
  { type: "image", data: PNG, mediaType: "image/jpeg" },
  { type: "image", data: PNG },
  { type: "image", data: "not base64!", mediaType: "image/png" },
  { type: "image", data: "AAAA", mediaType: "image/tiff" },
  { type: "image", url: `data:image/png;base64,${PNG}` },
  { type: "image", url: "https://example.com/a.png?x=1" },
  { type: "image", url: "http://example.com/a" },
  { type: "image", url: "file:///tmp/a.png" },
  { type: "image", url: "https://" },
  { type: "image" },
);

const OPAQUE: fc.Arbitrary<Block> = fc.constantFrom<Block>(
  { type: "opaque", provider: "anthropic", json: '{"type":"redacted_thinking","data":"x"}' },
  { type: "opaque", provider: "anthropic", json: '{"type":"document","source":{"type":"text"}}' },
  { type: "opaque", provider: "anthropic", json: '{"type":"tool_use","id":"z","name":"z"}' },
  { type: "opaque", provider: "openai", json: '{"type":"reasoning","id":"rs_1","summary":[]}' },
  { type: "opaque", provider: "openai.responses", json: '{"type":"web_search_call","id":"ws"}' },
  { type: "opaque", provider: "openai", json: '{"type":"file","file":{"file_id":"f"}}' },
  {
    type: "opaque",
    provider: "google",
    json: '{"executableCode":{"code":"1","language":"PYTHON"}}',
  },
  { type: "opaque", provider: "google", json: '{"functionCall":{"name":"x"}}' },
  { type: "opaque", provider: "mistral", json: '{"type":"document_url","document_url":"x"}' },
  { type: "opaque", provider: "anthropic", json: "{broken" },
  { type: "opaque", provider: "anthropic", json: '{"type":"document","title":"\\ud800"}' },
  { type: "opaque", json: '{"type":"resource","uri":"x"}' },
);

const THINKING: fc.Arbitrary<Block> = fc.constantFrom<Block>(
  { type: "thinking", text: "hm" },
  { type: "thinking", text: "hm", signature: "c2lnbmVk" },
  { type: "thinking", text: "", signature: "c2lnbmVk" },
  { type: "thinking", text: "hm \ud800", signature: "c2lnbmVk" },
  { type: "thinking", text: "hm", signature: "not base64!" },
);

const TEXT_BLOCK: fc.Arbitrary<Block> = fc.record({ type: fc.constant("text"), text: TEXT });

const CALL: fc.Arbitrary<Block> = fc.record(
  {
    type: fc.constant("tool_use"),
    id: ID,
    name: NAME,
    input: INPUT,
    thoughtSignature: fc.constantFrom("c2lnbmVk", "not base64!"),
  },
  { requiredKeys: ["type", "id", "name", "input"] },
);

const RESULT: fc.Arbitrary<Block> = fc.record(
  {
    type: fc.constant("tool_result"),
    toolUseId: ID,
    toolName: NAME,
    output: fc.oneof(
      fc.constantFrom("", "done", "half \ud83d"),
      fc.array(fc.oneof(TEXT_BLOCK, IMAGE, OPAQUE, THINKING), { maxLength: 3 }),
    ),
    isError: fc.boolean(),
  },
  { requiredKeys: ["type", "toolUseId", "output", "isError"] },
);

const ANY_BLOCK = fc.oneof(TEXT_BLOCK, CALL, RESULT, IMAGE, OPAQUE, THINKING);

const MESSAGE: fc.Arbitrary<ContextMessage> = fc.oneof(
  message("user", fc.oneof({ weight: 3, arbitrary: TEXT_BLOCK }, IMAGE, OPAQUE, RESULT)),
  message(
    "assistant",
    fc.oneof(TEXT_BLOCK, { weight: 3, arbitrary: CALL }, THINKING, OPAQUE, IMAGE),
  ),
  message("tool", RESULT),
  message("tool", RESULT),
  message("system", TEXT_BLOCK),
  fc.constantFrom("user", "assistant", "tool", "system").chain((role) => message(role, ANY_BLOCK)),
);

function message(
  role: ContextMessage["role"],
  block: fc.Arbitrary<Block>,
): fc.Arbitrary<ContextMessage> {
  return fc.record(
    {
      role: fc.constant(role),
      actor: fc.constant(null),
      blocks: fc.array(block, { maxLength: 5 }),
      part: fc.constantFrom("pinned", "summary", "facts", "recalled", "recent"),
      entryIds: fc.constant([]),
      model: fc.constantFrom(null, "claude-sonnet-4-5", "gemini-2.5-pro", "gpt-5", "llama-3"),
      aborted: fc.boolean(),
    },
    { requiredKeys: ["role", "actor", "blocks", "part", "entryIds", "model"] },
  );
}

function markTexts(messages: ContextMessage[]): ContextMessage[] {
  let count = 0;
  return messages.map((one) => ({
    ...one,
    blocks: one.blocks.map((block) => {
      if (block.type !== "text" || block.text.trim() === "") return block;
      count += 1;
      return { ...block, text: `#${count} ${block.text}` };
    }),
  }));
}
