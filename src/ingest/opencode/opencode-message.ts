/** A message of opencode with its parts, as the database and the exports give it. */

import type { Fields } from "../fields.ts";

export interface OpencodeMessage {
  readonly id: string;
  readonly data: Fields;
  readonly parts: readonly (Fields & { readonly id: string })[];
  /** When it was last written; 0 if that is not known. */
  readonly updatedAt: number;
}
