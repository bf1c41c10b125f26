/** Small programs in Python, Rust and Go, and some general questions. */

import { type Dialogue, dialogue } from "./session.ts";

export const TOOLS_SESSIONS: readonly Dialogue[] = [
  dialogue(
    "py-pandas",
    "2026-01-09",
    "forecast",
    `
user: pandas prints SettingWithCopyWarning when I fill the gaps in the sensor data. Can I ignore it?
assistant: Better not: you change a slice, and whether the original changes with it depends on how the slice was made.
user: What should I write instead?
assistant: df.loc[mask, "temperature"] = ... on the original frame, or take a .copy() first. I changed clean_readings to the former.
`,
  ),
  dialogue(
    "py-overfit",
    "2026-01-16",
    "forecast",
    `
user: The model is perfect on the training data and useless on last month's.
assistant: You split at random, so days next to each other end up on both sides. For a time series the test must come after the training.
assistant: With a split by date, and with early stopping, the error on unseen weeks falls from 31 to 12 percent.
`,
  ),
  dialogue(
    "py-venv",
    "2026-01-23",
    "forecast",
    `
user: ModuleNotFoundError: No module named 'forecast.features', but only in cron, by hand it works.
assistant: cron starts with another PATH and outside of the project's folder, so it takes the system's Python.
user: How do I call it then?
assistant: With the full path of the interpreter: .venv/bin/python -m forecast.run, after a cd. The crontab has it now, with MAILTO set so that you hear of failures.
`,
  ),
  dialogue(
    "py-async",
    "2026-02-04",
    "crawler",
    `
user: The crawler hangs after a few thousand pages. No error, CPU at zero.
assistant: A task that raised is never awaited, and the queue waits for its task_done() forever.
tool Edit: crawler/worker.py
assistant: task_done is in a finally block now, and workers live in a TaskGroup, so that an exception ends the run loudly.
`,
  ),
  dialogue(
    "rust-borrow",
    "2026-02-12",
    "tagger",
    `
user: error[E0502]: cannot borrow \`self.cache\` as mutable because it is also borrowed as immutable. I do not get it.
assistant: get_or_insert holds a reference into the map while you insert. The entry API does both with one borrow.
assistant: self.cache.entry(key).or_insert_with(|| load(key)) compiles, and looks up only once.
`,
  ),
  dialogue(
    "rust-unicode",
    "2026-02-17",
    "tagger",
    `
user: thread 'main' panicked at byte index 3 is not a char boundary. It happens with Turkish names.
assistant: The label is cut by bytes, and ş takes two of them. truncate_label now walks back to the start of a character.
user: What about emoji with skin tones?
assistant: Those are several characters; I use grapheme clusters so they stay whole.
`,
  ),
  dialogue(
    "go-deadlock",
    "2026-03-02",
    "relay",
    `
user: fatal error: all goroutines are asleep - deadlock! What does it wait for?
assistant: The results channel has no buffer, and the producer sends into it before anybody receives.
user: So a buffer helps?
assistant: It hides it. I moved the receiving loop before the sends, and close the channel when the WaitGroup is done.
`,
  ),
  dialogue(
    "go-context",
    "2026-03-09",
    "relay",
    `
user: When a client disconnects the upstream request goes on for minutes.
assistant: The handler uses context.Background() for it. With r.Context() it is cancelled together with the client.
tool Edit: internal/relay/upstream.go
assistant: There is a deadline of 20 seconds as well. The number of open connections fell from 900 to 60.
`,
  ),
  dialogue(
    "regex-backtrack",
    "2026-03-16",
    "relay",
    `
user: One log line of 40 KB keeps a core busy for a minute. It is the pattern for email addresses.
assistant: (a+)+ in disguise: nested repetition that can split the same text in exponentially many ways.
assistant: I rewrote it without nesting, and lines over 8 KB are not looked at. Worst case is 2 ms now.
`,
  ),
  dialogue(
    "vim-config",
    "2026-03-23",
    "dotfiles",
    `
user: Can you make neovim format on save, but not in the vendor folder?
assistant: With an autocommand on BufWritePre that asks conform.nvim, and returns early if the path contains /vendor/.
tool Edit: lua/plugins/format.lua
assistant: Works. Format takes 80 ms at most, else the file is written as it is.
`,
  ),
];
