/** Real queries, and their right sessions. */

export interface LabelledQuery {
  readonly category: string;
  readonly query: string;
  /** Any of these is right. */
  readonly right: readonly string[];
}

const QUERIES: Readonly<Record<string, readonly (readonly [query: string, ...right: string[]])[]>> =
  {
    identifier: [
      ["computeTotals", "ledger-rounding"],
      ["mergeCarts", "shop-cart-lost"],
      ["list accounts with balance", "ledger-slow-query"],
      ["busy_timeout", "ledger-busy"],
      ["context.Background", "go-context"],
      ["BufWritePre", "vim-config"],
      ["JWT_SECRET", "ledger-jwt"],
      ["useproductsearch", "shop-useeffect"],
      ["registrarMovimiento", "es-almacen"],
    ],
    "error message": [
      ["SQLITE_BUSY: database is locked", "ledger-busy"],
      ["JavaScript heap out of memory", "ledger-export"],
      ["connect ECONNREFUSED 127.0.0.1:6379", "infra-crashloop"],
      ["error[E0502] cannot borrow as mutable", "rust-borrow"],
      ["NET::ERR_CERT_DATE_INVALID", "infra-cert"],
      ["all goroutines are asleep", "go-deadlock"],
      ["Error acquiring the state lock", "infra-terraform-lock"],
      ["No module named 'forecast.features'", "py-venv"],
      ["ENOSPC", "infra-disk-full"],
      ["exit code 137", "infra-oomkilled"],
    ],
    paraphrase: [
      ["customer paid two times because of a retry", "ledger-idempotency"],
      ["log file of the database does not get smaller", "ledger-wal"],
      ["shopping cart disappears on login", "shop-cart-lost"],
      ["container image too large", "infra-docker-size"],
      ["too many database round trips when loading the dashboard", "ledger-n-plus-one"],
      ["night theme", "shop-dark-mode"],
      ["credentials leaked into the repository", "infra-secrets"],
      ["predictions good in training but bad in production", "py-overfit"],
      ["faster continuous integration", "infra-ci-cache"],
      ["site usable without a mouse", "shop-a11y"],
    ],
    question: [
      ["how do we verify that a webhook was sent by us?", "ledger-webhook"],
      ["why were all the users logged out after we deployed?", "ledger-jwt"],
      ["what did we do about the test that failed in one of ten runs?", "shop-flaky"],
      ["did we ever test that the backups can be restored?", "infra-backup"],
      ["which commit made the startup slower?", "infra-git-bisect"],
      ["why does a request sometimes take exactly five seconds longer?", "infra-dns"],
      ["how can I add a column to a huge table without downtime?", "ledger-migration"],
      ["what was wrong with the regular expression for email addresses?", "regex-backtrack"],
    ],
    date: [
      ["what did we fix on 11 February 2026", "shop-cart-lost"],
      ["session of 2026-03-05", "infra-git-bisect"],
      ["database migration in January", "ledger-migration"],
      ["certificate problem Feb 6", "infra-cert"],
    ],
    "file path": [
      ["src/db/connection.ts", "ledger-busy"],
      ["payment-events.ts", "shop-stripe"],
      ["migrations/0042", "ledger-migration"],
      [".venv/bin/python", "py-venv"],
    ],
    version: [
      ["upgrade react 18 to 19", "shop-upgrade"],
      ["v4.5.1", "infra-git-bisect"],
      ["9f3c2ab", "infra-git-bisect"],
      ["react 19.1.0 forwardRef", "shop-upgrade"],
    ],
    negation: [
      ["migration -currency", "ledger-rollback"],
      ["users sign in NOT deployment", "shop-cart-lost"],
      ["client request -charged -key", "go-context"],
      ["the test should not wait for the banner", "shop-flaky"],
      ["column that must not be null", "ledger-migration"],
      ["lock -terraform", "ledger-busy"],
      ["token -users zone", "infra-cert"],
    ],
    phrase: [
      ['"half-even rounding"', "ledger-rounding"],
      ['"no space left on device"', "infra-disk-full"],
      ['"first paint" theme', "shop-dark-mode"],
    ],
    typo: [
      ["hydraton failed", "shop-hydration"],
      ["certifcate expired staging", "infra-cert"],
      ["acessibility audit", "shop-a11y"],
      ["terrafrom apply", "infra-terraform-lock"],
      ["idempotancy key", "ledger-idempotency"],
      ["pandsa warning", "py-pandas"],
      ["webhok", "ledger-webhook"],
      ["neovmi", "vim-config"],
      ["debouce", "shop-useeffect"],
      ["gorutines", "go-deadlock"],
    ],
    german: [
      ["Umlaute werden falsch gedruckt", "de-drucker"],
      ["Wie lesen wir elektronische Rechnungen ein?", "de-rechnung"],
      ["zugferd import", "de-rechnung"],
    ],
    french: [
      ["mot de passe oublié courriel", "fr-connexion"],
      ["même siège vendu deux fois", "fr-places"],
      ["reinitialisation", "fr-connexion"],
    ],
    spanish: [
      ["cantidades negativas inventario", "es-almacen"],
      ["devolución signo invertido", "es-almacen"],
    ],
    chinese: [
      ["令牌有效期", "zh-login"],
      ["上传超时", "zh-upload"],
      ["大文件", "zh-upload"],
    ],
    japanese: [
      ["文字化け", "ja-mojibake"],
      ["夜間バッチが終わらない", "ja-batch"],
      ["請求書 コミット", "ja-batch"],
    ],
  };

export const LABELLED_QUERIES: readonly LabelledQuery[] = Object.entries(QUERIES).flatMap(
  ([category, queries]) => queries.map(([query, ...right]) => ({ category, query, right })),
);
