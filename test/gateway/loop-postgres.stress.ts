import { piPolicy } from "../../src/gateway/index.ts";
import { createDatabase } from "../support/postgres.ts";
import { loopCases } from "./loop.cases.ts";

loopCases(piPolicy(), 3, { turns: 300, newAddress: createDatabase });
