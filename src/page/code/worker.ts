/** The worker that highlights code, off the main thread so that scrolling does not wait for it. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { CodeAnswer, CodeQuestion, Token } from "./colour.ts";

const LANGUAGES = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["c", "h", "cc", "csharp", "cs"], { languageName: "cpp" });
hljs.registerAliases(["zsh", "shell", "console", "shellscript"], { languageName: "bash" });
hljs.registerAliases(["mts", "cts", "vue", "svelte"], { languageName: "typescript" });
hljs.registerAliases(["kotlin", "kt"], { languageName: "java" });
hljs.registerAliases(["toml", "ini"], { languageName: "yaml" });

interface Node {
  readonly scope?: string;
  readonly children: readonly (Node | string)[];
}

self.addEventListener("message", ({ data }: MessageEvent<CodeQuestion>) => {
  const { id, code, language } = data;
  const answer: CodeAnswer = { id, tokens: tokensOf(code, language) };
  self.postMessage(answer);
});

function tokensOf(code: string, language: string): readonly Token[] {
  if (hljs.getLanguage(language) === undefined) return [];
  const result = hljs.highlight(code, { language, ignoreIllegals: true });
  const tokens: Token[] = [];
  const walk = (node: Node | string, scope: string) => {
    if (typeof node === "string") tokens.push([scope, node]);
    else for (const child of node.children) walk(child, node.scope ?? scope);
  };
  walk((result._emitter as unknown as { readonly rootNode: Node }).rootNode, "");
  return tokens;
}
