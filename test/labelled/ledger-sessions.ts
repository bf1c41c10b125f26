/** An accounting backend in TypeScript: database, API, money. */

import { type Dialogue, dialogue } from "./session.ts";

export const LEDGER_SESSIONS: readonly Dialogue[] = [
  dialogue(
    "ledger-wal",
    "2026-01-12",
    "ledger",
    `
user: The WAL file of the production database is 14 GB and never shrinks. Can you find out why?
assistant: A WAL that only grows usually means a reader that never ends its transaction, so no checkpoint can reset it.
tool Bash: lsof ledger.db-wal
assistant: The reporting job opens a read transaction at start and keeps it for the life of the process. Every checkpoint stops at its snapshot.
user: So we should open a fresh one per report?
assistant: Yes. I changed ReportRunner to begin and end a transaction for each report, and a nightly checkpoint with TRUNCATE gives the space back.
user: Confirmed, it is down to 4 MB.
`,
  ),
  dialogue(
    "ledger-busy",
    "2026-01-15",
    "ledger",
    `
user: We get "SQLITE_BUSY: database is locked" a few times an hour, only under load.
assistant: Let me look at how the connections are opened.
tool Grep: busy_timeout
assistant: No busy_timeout is set anywhere, so a writer that meets another one fails at once. I would set 5000 ms, and use BEGIN IMMEDIATE for everything that writes: upgrading a read transaction fails whatever the timeout.
user: Do both please.
assistant: Done in src/db/connection.ts, with a test that runs two writers side by side.
`,
  ),
  dialogue(
    "ledger-rounding",
    "2026-01-20",
    "ledger",
    `
user: Invoice 4711 is off by one cent. The lines add up to 119.00 but the total says 118.99.
assistant: The tax is computed on each line and rounded there, then summed. The total rounds once at the end. Both are legal, but you show one and store the other.
user: Which one does the tax office want?
assistant: Either, as long as it is consistent. Rounding the total once is the more common choice here.
user: Then per total. And use integers, no floats.
assistant: computeTotals now works in cents as BigInt and applies half-even rounding once. The old invoices keep their stored amounts.
`,
  ),
  dialogue(
    "ledger-migration",
    "2026-01-27",
    "ledger",
    `
user: I need to add a not-null column "currency" to the postings table without downtime. It has 80 million rows.
assistant: In three steps: add it as nullable with a default, backfill in batches, then add the constraint as NOT VALID and validate it.
user: How big should a batch be?
assistant: About 10,000 rows each, with a short pause, so that autovacuum keeps up.
tool Write: migrations/0042_add_currency.sql
assistant: Migration 0042 adds the column, scripts/backfill-currency.ts fills it, and 0043 validates.
user: The backfill took six hours, no complaints from anybody.
`,
  ),
  dialogue(
    "ledger-rollback",
    "2026-02-03",
    "ledger",
    `
user: Migration 0044 failed halfway on staging and now the schema_version says 43 but the table is already there.
assistant: The runner executes each statement by itself, so a failure leaves the first ones behind.
user: PostgreSQL can do DDL in a transaction, no?
assistant: It can, except for CREATE INDEX CONCURRENTLY. I wrapped every migration in a transaction unless its header says otherwise.
assistant: For staging I dropped the half-made table by hand and ran it again.
`,
  ),
  dialogue(
    "ledger-idempotency",
    "2026-02-09",
    "ledger",
    `
user: A customer was charged twice because the client retried after a timeout. How do we stop that for good?
assistant: Let the client send a key with each request, and store the key with the response. A second request with the same key gets the stored answer.
user: And if the first one is still running?
assistant: Then the second one gets 409 and a Retry-After header.
tool Edit: src/api/charges.ts
assistant: POST /charges requires the Idempotency-Key header now. Keys are kept for 24 hours.
`,
  ),
  dialogue(
    "ledger-timezone",
    "2026-02-16",
    "ledger",
    `
user: The monthly statement for customers in Sydney misses the transactions of the last day.
assistant: The period is cut at midnight UTC. In Sydney that is 11 in the morning.
user: Where do we know the customer's zone from?
assistant: accounts.time_zone has it, as an IANA name. I compute the boundaries with Temporal in that zone and convert them to instants for the query.
user: Does that handle daylight saving?
assistant: Yes, and there is a test for the night of 5 April, when the clocks go back.
`,
  ),
  dialogue(
    "ledger-slow-query",
    "2026-02-20",
    "ledger",
    `
user: listAccountsWithBalance takes nine seconds for our largest tenant.
tool Bash: psql -c "EXPLAIN (ANALYZE, BUFFERS) SELECT ..."
assistant: It is a sequential scan over postings, because the filter is on lower(account_code) and the index is on account_code.
user: Can we add an index on the expression?
assistant: Yes: CREATE INDEX CONCURRENTLY postings_lower_code ON postings (tenant_id, lower(account_code)). It runs in 40 ms now.
`,
  ),
  dialogue(
    "ledger-n-plus-one",
    "2026-02-24",
    "ledger",
    `
user: Opening the dashboard sends 340 queries to the database. Please look at the resolver.
assistant: Each account loads its owner by itself. That is the classic N+1 problem.
assistant: I put a DataLoader in front of findOwner, so owners are fetched in one query per request.
user: Down to 6 queries. Nice.
`,
  ),
  dialogue(
    "ledger-jwt",
    "2026-03-03",
    "ledger",
    `
user: After the deployment all users were logged out. Why?
assistant: The signing key comes from JWT_SECRET, and the new container generated a random one because the variable was missing.
user: It should refuse to start instead.
assistant: Now it throws ConfigurationError: JWT_SECRET is not set, and exits with 78. I also let it accept two keys at a time, so that keys can be rotated without logging anybody out.
`,
  ),
  dialogue(
    "ledger-export",
    "2026-03-10",
    "ledger",
    `
user: Exporting a year of transactions as CSV kills the process with "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory".
assistant: The export builds one string of all rows. I would read with a cursor and write to the response as rows come in.
tool Edit: src/export/csv-stream.ts
assistant: exportTransactions is a stream now; memory stays below 90 MB for three million rows. Fields that begin with = or + get a quote in front, so that a spreadsheet does not run them.
`,
  ),
  dialogue(
    "ledger-webhook",
    "2026-03-17",
    "ledger",
    `
user: How do partners know that a webhook really came from us?
assistant: We sign the body. I suggest HMAC-SHA256 over timestamp and payload, in the header X-Ledger-Signature, and partners reject what is older than five minutes.
user: What about failed deliveries?
assistant: They are tried again after 1, 5, 30 minutes and then every two hours for a day, with jitter. After that the endpoint is marked as failing and its owner gets an email.
`,
  ),
];
