/** Every regular expression that is written in a source file: literals, and `new RegExp` of text. */

import { parseSync } from "rolldown/utils";

export interface SourcePattern {
  readonly line: number;
  readonly pattern: RegExp;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly value?: unknown;
  readonly callee?: Node;
  readonly name?: string;
  readonly arguments?: readonly Node[];
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly left?: Node;
  readonly right?: Node;
}

/** A prefilter: a literal after what may precede one, or a constructor. */
const SUSPECT = /[=(,:?[!&|{;>]\s*\/[^/*]|\breturn\s+\/|\bRegExp\(|^\s*\/[^/*]/m;

export function patternsIn(file: string, source: string): SourcePattern[] {
  if (!SUSPECT.test(source)) return [];
  const found: SourcePattern[] = [];
  const add = (start: number, pattern: string, flags: string) => {
    const line = source.slice(0, start).split("\n").length;
    found.push({ line, pattern: new RegExp(pattern, flags) });
  };
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (node.type === "Literal" && node.regex !== undefined) {
      add(node.start, node.regex.pattern, node.regex.flags);
    }
    if (/^(New|Call)Expression$/.test(node.type) && node.callee?.name === "RegExp") {
      const [text, flags] = node.arguments ?? [];
      const pattern = writtenText(text);
      // Without any written text the pattern is a value, written elsewhere or typed by a user.
      if (/[^x]/.test(pattern)) add(node.start, pattern, writtenText(flags).replaceAll("x", ""));
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(file, source).program);
  return found;
}

/** The text of a string, a template or a sum of them; `x` stands for a value. */
function writtenText(node: Node | undefined): string {
  if (node === undefined) return "";
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.quasis !== undefined) return node.quasis.map(({ value }) => value.cooked).join("x");
  if (node.type === "BinaryExpression") return writtenText(node.left) + writtenText(node.right);
  return "x";
}
