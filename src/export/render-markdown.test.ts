import { describe, expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { isStress } from "../../test/support/repeats.ts";
import { renderMarkdown } from "./render-markdown.ts";

const REL = 'rel="noreferrer noopener"';

describe("blocks", () => {
  for (const [name, markdown, html] of [
    [
      "headings rank below the author",
      "# One #\n## Two\n###### Six",
      "<h3>One</h3>\n<h4>Two</h4>\n<h6>Six</h6>",
    ],
    ["underlined headings", "One\n===\nTwo\n---", "<h3>One</h3>\n<h4>Two</h4>"],
    ["a number sign without a blank", "#tag C# #1", "<p>#tag C# #1</p>"],
    [
      "line breaks are kept",
      "one\ntwo  \nthree\\\nfour",
      "<p>one<br>\ntwo<br>\nthree<br>\nfour</p>",
    ],
    ["paragraphs", "one\r\n\r\n\r\ntwo", "<p>one</p>\n<p>two</p>"],
    [
      "fenced code with its language",
      "```ts title\nif (a < b) {\n\n  *c*\n```\nafter",
      "<figure><small>ts</small><pre><code>if (a &lt; b) {\n\n  *c*</code></pre></figure>\n<p>after</p>",
    ],
    [
      "a longer fence around a fence",
      "~~~~\n~~~\n```\n~~~~",
      "<figure><pre><code>~~~\n```</code></pre></figure>",
    ],
    ["a fence without an end", "```\na\n\nb", "<figure><pre><code>a\n\nb</code></pre></figure>"],
    [
      "indented code",
      "a\n\n    b\n\n\t\tc\n\nd",
      "<p>a</p>\n<figure><pre><code>b\n\n\tc</code></pre></figure>\n<p>d</p>",
    ],
    [
      "quotes",
      "> one\ntwo\n> > three\n\nfour",
      "<blockquote><p>one<br>\ntwo</p>\n<blockquote><p>three</p></blockquote></blockquote>\n<p>four</p>",
    ],
    [
      "a quoted fence ends with the quote",
      "> ```\n> a\n> ```\nb",
      "<blockquote><figure><pre><code>a</code></pre></figure></blockquote>\n<p>b</p>",
    ],
    ["thematic breaks", "---\n* * *\n___", "<hr>\n<hr>\n<hr>"],
    [
      "a list",
      "- one\n- two\nlines\n+ other",
      "<ul><li>one</li><li>two<br>\nlines</li></ul>\n<ul><li>other</li></ul>",
    ],
    [
      "lists by indentation",
      "1. a\n   - b\n     - c\n2. d",
      "<ol><li>a\n<ul><li>b\n<ul><li>c</li></ul></li></ul></li><li>d</li></ol>",
    ],
    [
      "a loose list with code",
      "- a\n\n  ```\n  x\n    y\n  ```\n- b",
      "<ul><li><p>a</p>\n<figure><pre><code>x\n  y</code></pre></figure></li><li><p>b</p></li></ul>",
    ],
    ["the first number", "7) a\n8) b", '<ol start="7"><li>a</li><li>b</li></ol>'],
    ["a number in prose", "It was in\n1986. A year.", "<p>It was in<br>\n1986. A year.</p>"],
    [
      "task boxes",
      "- [ ] a\n- [x] b",
      '<ul><li class="task">☐ a</li><li class="task">☑ b</li></ul>',
    ],
    [
      "a table after a line",
      "Look:\n| a | b |\n|:-:|--:|\n| `x \\| y` | **z** | more |\n| short",
      '<p>Look:</p>\n<table><thead><tr><th class="center">a</th><th class="right">b</th></tr></thead>' +
        '<tbody><tr><td class="center"><code>x | y</code></td><td class="right"><strong>z</strong></td></tr>' +
        '<tr><td class="center">short</td><td class="right"></td></tr></tbody></table>',
    ],
    ["bars without a table", "a | b\nc | d", "<p>a | b<br>\nc | d</p>"],
    ["nothing", " \n\n", ""],
  ] as const) {
    test(name, () => {
      expect(renderMarkdown(markdown)).toBe(html);
    });
  }
});

describe("inline", () => {
  for (const [name, markdown, html] of [
    [
      "emphasis",
      "*a* _b_ **c** __d__ ***e*** ~~f~~",
      "<em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <em><strong>e</strong></em> <del>f</del>",
    ],
    [
      "emphasis inside of emphasis",
      "**a *b* c** *d **e***",
      "<strong>a <em>b</em> c</strong> <em>d <strong>e</strong></em>",
    ],
    [
      "stars and underscores as text",
      "2 * 3 * 4 snake_case_name **a*b** *open ~5 ~6",
      "2 * 3 * 4 snake_case_name <strong>a*b</strong> *open ~5 ~6",
    ],
    ["emphasis that crosses", "*a _b* c_", "<em>a _b</em> c_"],
    [
      "code",
      "`a*b*<c>` `` d`e `` `\\`",
      "<code>a*b*&lt;c&gt;</code> <code>d`e</code> <code>\\</code>",
    ],
    ["backticks without an end", "`a ``b", "`a ``b"],
    ["escapes", "\\*a\\* \\[b](c) \\d \\<", "*a* [b](c) \\d &lt;"],
    ["entities", "&lt;a&gt; &amp; &copy; AT&T", "&lt;a&gt; &amp; &copy; AT&amp;T"],
    [
      "a link",
      '[a *b*](https://e.org/?x=1&y=(2) "t")',
      `<a href="https://e.org/?x=1&amp;y=(2)" ${REL}>a <em>b</em></a>`,
    ],
    [
      "a link in angle brackets",
      "[a](<https://e.org/b c>)",
      `<a href="https://e.org/b c" ${REL}>a</a>`,
    ],
    [
      "a link around its address",
      "[https://e.org](https://e.org)",
      `<a href="https://e.org" ${REL}>https://e.org</a>`,
    ],
    [
      "emphasis beside a link",
      "*a [b*](https://e.org)",
      `*a <a href="https://e.org" ${REL}>b*</a>`,
    ],
    ["a mail address", "[m](mailto:a@e.org)", `<a href="mailto:a@e.org" ${REL}>m</a>`],
    [
      "addresses",
      "(https://e.org/a_(b)_c). **http://f.org**",
      `(<a href="https://e.org/a_(b)_c" ${REL}>https://e.org/a_(b)_c</a>). <strong><a href="http://f.org" ${REL}>http://f.org</a></strong>`,
    ],
    [
      "an address in angle brackets",
      "<https://e.org/a>",
      `<a href="https://e.org/a" ${REL}>https://e.org/a</a>`,
    ],
    [
      "images are links",
      "![a](https://e.org/p.png) ![](https://e.org/q.png)",
      `<a href="https://e.org/p.png" ${REL}>a</a> <a href="https://e.org/q.png" ${REL}>https://e.org/q.png</a>`,
    ],
    [
      "an image in a link",
      "[![a](https://e.org/p.png)](https://f.org)",
      `<a href="https://f.org" ${REL}>a</a>`,
    ],
    ["other brackets", "a[0] = [b] (c) [d][e] [x", "a[0] = [b] (c) [d][e] [x"],
    [
      "masks",
      "k=[redacted](x) [[redacted]](https://e.org)",
      `k=[redacted](x) <a href="https://e.org" ${REL}>[redacted]</a>`,
    ],
    [
      "a mask before an address",
      "[redacted](https://e.org?t=[redacted])",
      `[redacted](<a href="https://e.org?t=[redacted]" ${REL}>https://e.org?t=[redacted]</a>)`,
    ],
  ] as const) {
    test(name, () => {
      expect(renderMarkdown(markdown)).toBe(`<p>${html}</p>`);
    });
  }
});

describe("hostile texts", () => {
  const RUN = "globalThis.pwned=true";
  for (const [markdown, html] of [
    [`<script>${RUN}</script>`, `&lt;script&gt;${RUN}&lt;/script&gt;`],
    [`<img src=x onerror="${RUN}">`, `&lt;img src=x onerror=&quot;${RUN}&quot;&gt;`],
    [
      '<a href="https://e.org" onclick="x">y</a>',
      "&lt;a href=&quot;https://e.org&quot; onclick=&quot;x&quot;&gt;y&lt;/a&gt;",
    ],
    [
      '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=x&gt;">',
      "&lt;math&gt;&lt;mtext&gt;&lt;table&gt;&lt;mglyph&gt;&lt;style&gt;&lt;!--&lt;/style&gt;&lt;img title=&quot;--&gt;&lt;img src=1 onerror=x&gt;&quot;&gt;",
    ],
    ["[a](javascript:alert(1)) <javascript:alert(1)>", "a javascript:alert(1)"],
    ["[a](JaVaScRiPt:x) [b](data:text/html,x) ![c](data:image/svg+xml,x)", "a b c"],
    [
      "[a]( javascript:x) [b](\u0001javascript:x) [c](vbscript:x) [d](//e.org) [e](file:///x)",
      "a [b](\u2401javascript:x) c d e",
    ],
    ["[a](<javascript:x>) [b](&#106;avascript:x) [c](javascript&colon;x)", "a b c"],
    [
      '[a](https://e.org/"onmouseover="x)',
      `<a href="https://e.org/&quot;onmouseover=&quot;x" ${REL}>a</a>`,
    ],
    [
      "[a](<https://e.org/'><script>x</script>)",
      `<a href="https://e.org/&#39;&gt;&lt;script&gt;x&lt;/script" ${REL}>a</a>`,
    ],
    [
      "https://e.org/\"onclick='x'",
      `<a href="https://e.org/&quot;onclick=&#39;x" ${REL}>https://e.org/&quot;onclick=&#39;x</a>&#39;`,
    ],
    [
      "*<b*>* [<i>](https://e.org)",
      `<em>&lt;b</em>&gt;* <a href="https://e.org" ${REL}>&lt;i&gt;</a>`,
    ],
    ["\ud800 `\udc00`", "\ufffd <code>\ufffd</code>"],
  ] as const) {
    test(`${markdown} is shown, and runs nothing`, () => {
      expect(renderMarkdown(markdown)).toBe(`<p>${html}</p>`);
    });
  }

  test("the language of a fence and the cells of a table are escaped", () => {
    expect(renderMarkdown('```"><script>\n</code></pre>\n```')).toBe(
      "<figure><small>&quot;&gt;&lt;script&gt;</small><pre><code>&lt;/code&gt;&lt;/pre&gt;</code></pre></figure>",
    );
    expect(renderMarkdown("<b>|c\n-|-\n|</td>|`<i>`")).toBe(
      "<table><thead><tr><th>&lt;b&gt;</th><th>c</th></tr></thead>" +
        "<tbody><tr><td>&lt;/td&gt;</td><td><code>&lt;i&gt;</code></td></tr></tbody></table>",
    );
  });

  test("quotes, lists and emphasis nest to a bounded depth, and lose no text", () => {
    const deepest = (html: string) => {
      let [depth, most] = [0, 0];
      for (const [, end] of html.matchAll(/<(\/?)\w+>/g)) {
        depth += end === "/" ? -1 : 1;
        most = Math.max(most, depth);
      }
      expect(depth).toBe(0);
      return most;
    };
    expect(deepest(renderMarkdown(`${"> ".repeat(1_000)}a`))).toBeLessThan(30);
    expect(deepest(renderMarkdown(`${"- ".repeat(1_000)}a`))).toBeLessThan(30);
    expect(deepest(renderMarkdown(`${"*a ".repeat(1_000)}${"a* ".repeat(1_000)}`))).toBeLessThan(
      110,
    );
    const lines = Array.from({ length: 400 }, (_, at) => `${" ".repeat(at * 2)}- n${at}`);
    expect(renderMarkdown(lines.join("\n"))).toContain("n399");
  });

  test("no text takes long", () => {
    // The longest text that is rendered, or half of it: quadratic time takes seconds, or a quarter.
    const [SIZE, MOST_MS] = isStress ? [32_768, 2_500] : [16_384, 625];
    const fill = (piece: string) => piece.repeat(SIZE / piece.length);
    const PIECES = [
      "*•_•~•[•]•`•<•&•!•|•#•=•-•\\•h• •\t•\n",
      '*a •a* •*a_b•_a•**a•***a*b**•~~a•[a](•](•[a](b "•[a](<b•[]•![',
      "<a •<https://•https://-•https://a.•https://a)•` `` •\\`•&amp",
      "> •>•- •1. •> \n•> a\nb\n•- a\n\n•- a\nb\n•```\n•~~~ x\n•a\n",
      "|a\n|-\n•|-\n•a|b\n•    a\n\n•# #•---\n•a\n=\n•a\n-\n•a\n:-\n•|a|b\n|-\n•> - a\nb\n•> > a\nb\n",
      "[a]: b\n•[a][a]\n\n[a]: b\n\n•[![a](b)](c)•www.a.b.•a@b.c-•<!--•<div>\n•- [ ] a\n•&#1;",
    ];
    const texts = PIECES.flatMap((line) => line.split("•").map(fill));
    texts.push(
      Array.from({ length: 300 }, (_, at) => "`".repeat(at + 1)).join(" "),
      `${fill("`")}\u2028`,
      `a\n${fill("-")}x`,
      `# a${fill(" #")}x`,
      `${"[".repeat(SIZE / 20)}${"](https://e)".repeat(SIZE / 20)}`,
      // Paragraphs with as many signs as are read.
      ...["**a _".repeat(130), "a__".repeat(190), "!".repeat(399)].map((text) =>
        fill(`${text}\n\n`),
      ),
      `${"|a".repeat(20)}\n${"|-".repeat(20)}\n${fill("|\n")}`,
      `${"|a".repeat(SIZE / 6)}\n${"|-".repeat(SIZE / 6)}\n${"|a\n".repeat(SIZE / 9)}`,
      `${"*a ".repeat(SIZE / 6)}${"a* ".repeat(SIZE / 6)}`,
      Array.from({ length: 220 }, (_, at) => `${" ".repeat(at * 2)}- a`).join("\n"),
    );
    for (const text of texts) {
      const html = { length: 0 };
      const took = cpuMs(() => {
        html.length = renderMarkdown(text).length;
      });
      expect(took, text.slice(0, 20)).toBeLessThan(MOST_MS);
      expect(html.length, text.slice(0, 20)).toBeLessThan(20 * SIZE);
    }
  });
});
