/** A store with the corpus of `bench search`, and what filling it took. */

import { join } from "node:path";
import { type Figures, inFreshProcess, withFolder } from "./measure.ts";
import { SearchCorpus } from "./search-corpus.ts";
import type { FillTask } from "./search-fill.ts";
import { writeTexts } from "./search-texts.ts";

/**
 * What `backscroll` gives its own thread for new objects when it writes much. Left alone, V8 takes up
 * to 50 MB for them in a program that allocates for minutes, whatever the program does.
 */
const HEAP = ["--max-semi-space-size=8"];

const FILL = new URL("./search-fill.ts", import.meta.url);

/** `folder` is where the texts are put for the time that it takes. */
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
