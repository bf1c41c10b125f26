import { piPolicy } from "../../src/gateway/index.ts";
import { loopCases } from "./loop.cases.ts";

loopCases(piPolicy(), 1);
