import { turnsPolicy } from "../../src/gateway/index.ts";
import { loopCases } from "./loop.cases.ts";

loopCases(turnsPolicy({ triggerTokens: 4_000 }), 2);
