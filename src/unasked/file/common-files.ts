/** Files that nearly every session reads: what was said about one is not about the work at hand. */

import { pathParts } from "../../recap/trace-session.ts";

const NAMES =
  /^(?:readme|changelog|changes|history|license|licence|copying|contributing|security|code_of_conduct|notice|authors|todo|claude|agents|gemini|copilot-instructions|codeowners|makefile|dockerfile|justfile|procfile|gemfile|rakefile|brewfile|vagrantfile)(?:\.(?:md|mdx|txt|rst|adoc|local\.md))?$/i;
const MANIFESTS =
  /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-(?:lock|workspace)\.yaml|yarn\.lock|bun\.lockb?|deno\.(?:jsonc?|lock)|go\.(?:mod|sum|work)|cargo\.(?:toml|lock)|pyproject\.toml|poetry\.lock|uv\.lock|pipfile(?:\.lock)?|requirements[\w.-]*\.txt|setup\.(?:py|cfg)|gemfile\.lock|composer\.(?:json|lock)|mix\.(?:exs|lock)|pom\.xml|build\.gradle(?:\.kts)?|flake\.(?:nix|lock)|tsconfig[\w.-]*\.json|jsconfig\.json|biome\.jsonc?|mise\.toml|\.tool-versions|\.?eslint[\w.-]*|\.prettier[\w.-]*|\.editorconfig|\.gitignore|\.gitattributes|\.npmrc|\.env[\w.-]*|docker-compose[\w.-]*\.ya?ml)$/i;
const GENERATED = /\.(?:lock|lockb|sum|min\.js|map|snap|svg|png|jpe?g|gif|ico|pdf|log)$/i;
const FOLDERS = new Set([
  "node_modules",
  "vendor",
  "dist",
  "build",
  "target",
  ".git",
  "__pycache__",
]);

export function isCommonFile(path: string): boolean {
  const parts = pathParts(path);
  const name = parts.at(-1) ?? "";
  if (NAMES.test(name) || MANIFESTS.test(name) || GENERATED.test(name)) return true;
  return parts.slice(0, -1).some((part) => FOLDERS.has(part));
}
