/** A message of opencode with its parts, as the database and the exports give it. */

import type { Fields } from "../fields.ts";

export interface OpencodeMessage {
  readonly id: string;
  readonly data: Fields;
  readonly parts: readonly (Fields & { readonly id: string })[];
  /** The last write; 0 if unknown. */
  readonly updatedAt: number;
}
