/** All prompts, in the order in which clients list them. */

import type { Prompt } from "./prompt.ts";
import { resumeSession } from "./resume-session.ts";
import { whatDidWeDecide } from "./what-did-we-decide.ts";

export const PROMPTS: readonly Prompt[] = [whatDidWeDecide, resumeSession];
