/** A web shop in React: state, styles, tests, accessibility. */

import { type Dialogue, dialogue } from "./session.ts";

export const SHOP_SESSIONS: readonly Dialogue[] = [
  dialogue(
    "shop-hydration",
    "2026-02-02",
    "shop",
    `
user: React warns "Hydration failed because the server rendered HTML didn't match the client" on the product page.
assistant: The price is formatted with toLocaleString without a locale. The server is en-US, the browser is whatever the visitor has.
user: Fix it so that both use the locale of the route.
assistant: formatPrice takes the locale from the route's params now. The warning is gone in all three languages.
`,
  ),
  dialogue(
    "shop-useeffect",
    "2026-02-05",
    "shop",
    `
user: The search box sends a request on every key stroke, and sometimes an older answer overwrites a newer one.
assistant: Two things: debounce by 250 ms, and abort the request that is under way when a new one starts.
tool Edit: src/components/SearchBox.tsx
assistant: useProductSearch creates an AbortController in its effect and aborts it in the clean-up. The race is gone.
user: Please also show the spinner only after 300 ms.
assistant: Done.
`,
  ),
  dialogue(
    "shop-cart-lost",
    "2026-02-11",
    "shop",
    `
user: Customers report that their basket is empty after they sign in.
assistant: The anonymous basket lives in localStorage, the one of the account on the server. After sign-in only the server's is shown.
user: They should be merged.
assistant: mergeCarts adds the quantities of both, at most ten of a product, and clears the local one afterwards.
`,
  ),
  dialogue(
    "shop-bundle",
    "2026-02-18",
    "shop",
    `
user: The main bundle is 1.9 MB. What is in there?
tool Bash: npx vite-bundle-visualizer
assistant: Half of it is moment with all locales, and lodash as a whole.
user: Replace moment by date-fns, and import only what we use of lodash.
assistant: 1.9 MB became 610 KB, 190 compressed. The chart library now loads only on the statistics page.
`,
  ),
  dialogue(
    "shop-flaky",
    "2026-02-25",
    "shop",
    `
user: checkout.spec.ts fails in about one of ten runs with "locator.click: Timeout 30000ms exceeded".
assistant: The button is there but covered by the cookie banner, which slides in after a second. If the click comes first it passes.
user: Can the test wait for the banner?
assistant: Better to set the consent cookie in a fixture, so that there is no banner at all. Fifty runs in a row have passed.
`,
  ),
  dialogue(
    "shop-dark-mode",
    "2026-03-04",
    "shop",
    `
user: Add a dark theme. It should follow the system unless the user chooses otherwise.
assistant: I would move all colours into CSS custom properties and switch them by data-theme on the root element.
tool Edit: src/styles/tokens.css
assistant: There is a toggle in the footer now with three states. A small script in the head sets the theme before the first paint, so it does not flash white.
user: Contrast of the grey text is too low at night.
assistant: Raised to 4.8:1.
`,
  ),
  dialogue(
    "shop-a11y",
    "2026-03-06",
    "shop",
    `
user: Our accessibility audit says the menu cannot be used with the keyboard.
assistant: The entries are divs with onClick. They should be buttons, and the submenu needs aria-expanded.
assistant: Arrow keys move, Escape closes and gives the focus back to the button that opened it. The screen reader announces the number of entries.
user: The auditor is happy.
`,
  ),
  dialogue(
    "shop-images",
    "2026-03-12",
    "shop",
    `
user: Lighthouse gives us a largest contentful paint of 5.1 seconds on mobile.
assistant: The hero picture is a 3 MB PNG that is loaded lazily. Above the fold it should be eager, and much smaller.
tool Bash: cwebp -q 80 hero.png
assistant: It is AVIF with a WebP fallback now, in four widths by srcset, with fetchpriority high. LCP is 1.8 seconds.
`,
  ),
  dialogue(
    "shop-stripe",
    "2026-03-19",
    "shop",
    `
user: Payments with 3D Secure stay "pending" forever when the customer closes the tab after confirming.
assistant: We only mark the order as paid in the browser, after the redirect. The provider's event payment_intent.succeeded is ignored.
user: Then listen for it.
assistant: The handler in src/server/payment-events.ts sets the order to paid whichever comes first, and does nothing the second time.
`,
  ),
  dialogue(
    "shop-upgrade",
    "2026-03-26",
    "shop",
    `
user: Upgrade us from React 18.3.1 to 19.1.0 please.
assistant: The codemod handles most of it. By hand: forwardRef is gone from eleven components, and defaultProps of function components are ignored now.
tool Bash: npm install react@19.1.0 react-dom@19.1.0
assistant: All 412 tests pass. Two libraries still name 18 as their peer; I put overrides for them into package.json.
`,
  ),
  dialogue(
    "shop-i18n",
    "2026-03-30",
    "shop",
    `
user: We need the shop in Polish. What about plurals? It has more than two forms.
assistant: Intl.PluralRules knows them: one, few, many and other. The messages use ICU syntax, so each key gets the four forms.
user: Who writes the texts?
assistant: I exported 640 keys for the translators. A missing one falls back to English, and the build lists them.
`,
  ),
];
