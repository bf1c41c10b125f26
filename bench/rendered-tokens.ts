/** The size of a provider request, by the estimate: bytes / 4 + 1 for each block, an image 1,200. */

import { IMAGE_TOKENS } from "../src/context/tokens.ts";

type Wire = Readonly<Record<string, unknown>>;

/** Of anything that `renderContext` gives. */
export function renderedTokens(rendered: unknown): number {
  const { system, instructions, systemInstruction, messages, input, contents } = rendered as Wire;
  const told = [system, instructions, ...objects(asWire(systemInstruction)["parts"])];
  return sum([...told, ...objects(messages ?? input ?? contents).flatMap(blocksOf)].map(tokensOf));
}

/** The blocks of a message; a message that is one block (`function_call`) is that. */
function blocksOf(message: Wire): unknown[] {
  const { role, content, parts, tool_calls: calls } = message;
  if (role === undefined) return [message];
  // A tool's message is one result.
  if (role === "tool" && !Array.isArray(content)) return [message];
  const own = typeof content === "string" ? [content] : objects(content ?? parts);
  return [...own.filter((block) => block !== ""), ...objects(calls)];
}

function tokensOf(block: unknown): number {
  if (block === undefined || block === null) return 0;
  if (typeof block === "string") return quarter(block) + 1;
  const wire = asWire(block);
  const call = asWire(wire["function"] ?? wire["functionCall"] ?? wire);
  const response = asWire(wire["functionResponse"]);
  if (isImage(wire)) return IMAGE_TOKENS;
  const args = call["arguments"] ?? call["args"] ?? call["input"];
  if (args !== undefined) return quarter(text(call["name"] ?? call["toolName"]) + text(args)) + 1;
  if ("functionResponse" in wire) {
    const { output, error } = asWire(response["response"]);
    return quarter(text(response["name"]) + text(output ?? error)) + 1;
  }
  if ("output" in wire || wire["role"] === "tool" || wire["type"] === "tool_result") {
    const name = text(wire["toolName"] ?? wire["name"] ?? "");
    const output = wire["output"] ?? wire["content"];
    const value = asWire(output)["value"] ?? output;
    if (Array.isArray(value)) return quarter(name) + 1 + sum(value.map(tokensOf));
    return quarter(name + text(value)) + 1;
  }
  return (
    quarter(text(wire["text"] ?? wire["thinking"] ?? wire) + text(wire["signature"] ?? "")) + 1
  );
}

function isImage(wire: Wire): boolean {
  const { type } = wire;
  const kinds = ["image", "image_url", "input_image", "file"];
  return (
    (typeof type === "string" && kinds.includes(type)) || "inlineData" in wire || "fileData" in wire
  );
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function quarter(words: string): number {
  return Math.floor(Buffer.byteLength(words) / 4);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function asWire(value: unknown): Wire {
  return typeof value === "object" && value !== null ? (value as Wire) : {};
}

function objects(value: unknown): Wire[] {
  return Array.isArray(value) ? (value as Wire[]) : [];
}
