/** A store with the corpus of `bench search`, and the cost of filling it. */

import { join } from "node:path";
import { type Figures, inFreshProcess, withFolder } from "./measure.ts";
import { SearchCorpus } from "./search-corpus.ts";
import type { FillTask } from "./search-fill.ts";
import { writeTexts } from "./search-texts.ts";

/**
 * The young generation that `backscroll` sets for bulk writes. By default V8 takes up to 50 MB in a
 * program that allocates for minutes.
 */
const HEAP = ["--max-semi-space-size=8"];

const FILL = new URL("./search-fill.ts", import.meta.url);

/** `folder` holds the texts meanwhile. */
export function fillStore(
  task: Omit<FillTask, "texts">,
  folder: string | undefined,
): Promise<Figures> {
  return withFolder(folder, (own) => {
    const texts = join(own, "texts.tsv");
    writeTexts(texts, new SearchCorpus(1), task.messages);
    return inFreshProcess(FILL, "fill", { ...task, texts }, HEAP);
  });
}
