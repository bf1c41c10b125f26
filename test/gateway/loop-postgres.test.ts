import { piPolicy } from "../../src/gateway/index.ts";
import { createDatabase } from "../support/postgres.ts";
import { repeats } from "../support/repeats.ts";
import { loopCases } from "./loop.cases.ts";

loopCases(piPolicy(), 3, { turns: repeats(60, 300), newAddress: createDatabase });
