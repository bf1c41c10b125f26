/** `npm run bench -- NAME`: measures, prints JSON lines, and fails when a bar is missed. */

import { parseArgs } from "node:util";
import { benchAppend } from "./append.ts";
import { benchBlobs } from "./blobs.ts";
import type { BenchOptions } from "./measure.ts";
import { benchSearch } from "./search.ts";

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<boolean>>> = {
  append: benchAppend,
  blobs: benchBlobs,
  search: benchSearch,
};

const HELP = `Usage: npm run bench -- NAME [options]

  append   one append, batches, pages of sessions and messages, event-loop delay
  blobs    what the threshold for blobs costs and saves, on tool-heavy transcripts
  search   searches among many messages, beside FTS5; indexing, memory, size, cold start

Options
  --quick            one run of each measurement instead of the median of five
  --backend NAME     sqlite or postgres; both if left out
  --only TEXT        only the measurements whose name contains TEXT
  --messages N       how many messages search looks through; 100000 if left out
  --folder PATH      where the databases are made (a real disk, not memory); the system's
                     temporary folder if left out
  --help

Each measurement is one JSON line on stdout, and so is each bar with its figure.
The exit code is 1 when a bar is missed, 2 when the command is wrong.
`;

// Said outright: the package that starts PostgreSQL ends the process with 0 when it is left to end.
process.exit(await main());

async function main(): Promise<number> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const bench = BENCHES[positionals[0] ?? ""];
  const { backend } = values;
  const messages = Number(values.messages);
  const known = backend === undefined || backend === "sqlite" || backend === "postgres";
  if (bench === undefined || positionals.length > 1 || !known || !(messages > 0)) {
    console.error(HELP);
    return 2;
  }
  const met = await bench({
    runs: values.quick ? 1 : 5,
    backends: backend === undefined ? ["sqlite", "postgres"] : [backend],
    only: values.only ?? "",
    messages,
    ...(values.folder === undefined ? {} : { folder: values.folder }),
  });
  return met ? 0 : 1;
}

function parse() {
  return parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
      backend: { type: "string" },
      only: { type: "string" },
      messages: { type: "string", default: "100000" },
      folder: { type: "string" },
    },
  });
}
