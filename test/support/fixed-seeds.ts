/** Vitest loads this before each file: properties draw their examples from the seed of the run. */

import fc from "fast-check";
import { SEED } from "./random.ts";

fc.configureGlobal({ seed: SEED });
