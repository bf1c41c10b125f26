/** The style and the script of the reference, at separate addresses. */

export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: light-dark(#0a6b66, #63c7bb);
  --back: light-dark(#fafaf8, #131516) }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem;
  background: var(--back); color: light-dark(#1b1e20, #e2e5e4); overflow-wrap: anywhere }
a { color: var(--link) }
code, pre { font: 0.875em/1.5 ui-monospace, monospace }
pre { background: var(--soft); padding: 0.75rem; overflow-x: auto; border-radius: 6px; overflow-wrap: normal }
h1 { font-size: 1.5rem } h2 { margin: 2rem 0 0.5rem; text-transform: capitalize } h3 { font-size: 1rem; margin: 1rem 0 0.25rem }
input[type=search] { width: 100%; font: inherit; padding: 0.5rem 0.75rem; border: 1px solid var(--line);
  border-radius: 6px; background: inherit; color: inherit }
.find { position: sticky; top: 0; background: var(--back); padding: 0.5rem 0; z-index: 1 }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem }
details { border-bottom: 1px solid var(--line) }
details, h2 { scroll-margin-top: 4.5rem }
summary { cursor: pointer; padding: 0.5rem 0 } summary b { display: inline-block; min-width: 4.5rem }
summary span { display: block; opacity: 0.8 }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; border-top: 1px solid var(--line) }
.required { font-weight: 600 }
[hidden] { display: none }
@media (max-width: 40rem) {
  table, tbody, tr, td { display: block } thead { display: none }
  tr { border-top: 1px solid var(--line); padding: 0.3rem 0 } td { border: 0; padding: 0 }
}
`;

export const REFERENCE_SCRIPT = `
const find = document.querySelector("#find");
const found = document.querySelector("#found");
const operations = [...document.querySelectorAll("details")].map((item) => ({
  item,
  text: item.textContent.toLowerCase(),
}));
function show() {
  const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const { item, text } of operations) {
    item.hidden = !words.every((word) => text.includes(word));
    if (!item.hidden) count++;
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = section.querySelector("details:not([hidden])") === null;
  }
  found.textContent = words.length === 0 ? "" : count + (count === 1 ? " operation" : " operations");
}
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
find.addEventListener("input", show);
addEventListener("hashchange", open);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === find) return;
  event.preventDefault();
  find.focus();
});
show();
open();
`;
