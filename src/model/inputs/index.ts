/**
 * The fields of every input with their kinds, by the name of its call: shared by the library, the
 * client and the REST schemas. A part of an input has a dotted name: `createSession.origin`.
 *
 * Each table is compared with the TypeScript type of its input where it is used (`checkFields`), so
 * that neither can change alone.
 */

import { CONTEXT_INPUTS } from "./context.ts";
import { CONVERSATION_INPUTS } from "./conversations.ts";
import { HOST_INPUTS } from "./hosts.ts";
import { MAINTENANCE_INPUTS } from "./maintenance.ts";

export const INPUTS: typeof CONVERSATION_INPUTS &
  typeof CONTEXT_INPUTS &
  typeof MAINTENANCE_INPUTS &
  typeof HOST_INPUTS = {
  ...CONVERSATION_INPUTS,
  ...CONTEXT_INPUTS,
  ...MAINTENANCE_INPUTS,
  ...HOST_INPUTS,
};
