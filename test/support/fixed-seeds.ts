/** Setup file: properties use the seed of the run. */

import fc from "fast-check";
import { SEED } from "./random.ts";

fc.configureGlobal({ seed: SEED });
