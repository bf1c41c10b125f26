/**
 * The fields of every input, under the name of the call that takes it: the one description that the
 * library, the client and the schemas of REST share. A part of an input has its place in the name:
 * `createSession.origin`.
 *
 * Each list is compared with the TypeScript type of its input where it is used (`checkFields`), so
 * that a field cannot be added to one of the two alone.
 */

import { CONTEXT_INPUTS } from "./context.ts";
import { CONVERSATION_INPUTS } from "./conversations.ts";
import { HOST_INPUTS } from "./hosts.ts";
import { UPKEEP_INPUTS } from "./upkeep.ts";

export const INPUTS: typeof CONVERSATION_INPUTS &
  typeof CONTEXT_INPUTS &
  typeof UPKEEP_INPUTS &
  typeof HOST_INPUTS = {
  ...CONVERSATION_INPUTS,
  ...CONTEXT_INPUTS,
  ...UPKEEP_INPUTS,
  ...HOST_INPUTS,
};
