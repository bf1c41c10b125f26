import fc from "fast-check";
import { Marked } from "marked";
import { expect, test } from "vitest";
import { repeats } from "../../test/support/repeats.ts";
import { renderMarkdown } from "./render-markdown.ts";

const BLOCKS =
  "\n•\n\n•  •    •\t•# •## •- •1. •> •```\n•~~~•---\n•| •|-|\n•|:-:|--|\n•- [x] •===".split("•");
const EMPHASIS = "word •a•b• •*•**•***•_•__•~~•`•[•](https://e.org)".split("•");
const OTHERS = [
  "``•\\•]•](•)•(•![•<•>•&lt;•&#39;•\"•'•\u2028•\ud83d\ude00•\ud800•[redacted]",
  "https://e.org•mailto:a@e.org•javascript:x•data:text/html,x•<script>•</p>•<img onerror=x>",
].flatMap((line) => line.split("•"));

/** Every tag that may be written, with its attributes. */
const TAGS = [
  /^<\/?(?:p|h[3-6]|ul|ol|li|blockquote|figure|small|pre|code|strong|em|del|table|thead|tbody|tr|th|td)>$/,
  /^<(?:br|hr|\/a)>$/,
  /^<a href="(?:https?|mailto):[^"<>]*" rel="noreferrer noopener">$/,
  /^<(?:th|td) class="(?:center|right)">$/,
  /^<li class="task">$/,
  /^<ol start="\d{1,9}">$/,
];

/** Tags with other attributes, and tags that end another or no tag. */
function wrongTags(html: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [tag, end, name = ""] of html.matchAll(/<(\/?)(\w+)[^>]*>/g)) {
    if (!TAGS.some((allowed) => allowed.test(tag))) wrong.push(tag);
    if (name === "a" && end === "" && open.includes(name)) wrong.push("a link in a link");
    if (end === "/" && open.pop() !== name) wrong.push(tag);
    if (end === "" && name !== "br" && name !== "hr") open.push(name);
  }
  return [...wrong, ...open];
}

test("any text becomes well-formed HTML of known tags and attributes", () => {
  const text = fc.oneof(
    fc.array(fc.constantFrom(...EMPHASIS), { maxLength: 20 }),
    fc.array(fc.constantFrom(...EMPHASIS, ...OTHERS, ...BLOCKS), { maxLength: 40 }),
  );
  fc.assert(
    fc.property(text, (pieces) => {
      const html = renderMarkdown(pieces.join(""));
      expect(wrongTags(html)).toEqual([]);
      expect(html.replace(/<[^<>]*>/g, "")).not.toMatch(/[<>"']/);
      expect(html.isWellFormed()).toBe(true);
    }),
    { numRuns: repeats(1_500, 50_000) },
  );
});

const DOCUMENT = `# Plan for **release**

Two lines
of one paragraph, with \`code\`, *emphasis*, ~~gone~~ and https://example.org/a_b.

1. First, see [the docs](https://example.org/docs "Docs")
   - nested with \`a | b\`
   - [relative](./src/a.ts) and snake_case
2. Second

   \`\`\`ts
   const a = 1 < 2;
   \`\`\`
3. Third
---
> A quote
goes on
> - with a list

| name | count |
|------|------:|
| a \\| b | **1** |
| \`c\` | 2 |

Title
-----
* one
* two

  loose

    code by indentation

<https://example.org> 2 * 3 * 4 \\*escaped\\* __strong__ ***both*** a<br>b &amp; &lt;c&gt;
`;

test("a document looks as on the page of the server", () => {
  const marked = new Marked({
    gfm: true,
    breaks: true,
    renderer: { html: ({ text }) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;") },
  });
  const page = marked
    .parse(DOCUMENT, { async: false })
    .replace(/<(\/?)h(\d)>/g, (_, end, level) => `<${end}h${Number(level) + 2}>`)
    .replace(/<a href="\.[^>]*>(.*?)<\/a>/g, "$1");
  // Attributes, boxes around code and white space between tags are beyond the comparison.
  const plain = (html: string) =>
    html
      .replace(/<small>.*?<\/small>|<\/?figure>/g, "")
      .replace(/<(\w+) [^>]*>/g, "<$1>")
      .replace(/\s*(<[^>]*>)\s*/g, "$1")
      .replaceAll("><", ">\n<");
  expect(plain(renderMarkdown(DOCUMENT))).toBe(plain(page));
});
