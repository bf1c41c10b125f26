/** Names under which our own export keeps in pi's format what that format has no record for. */

/** A last record that points to the leaf, where that is not where the last line stands. */
export const LEAF_MARK = "backscroll:leaf";

/** A system message: in pi it is no part of a session. */
export const SYSTEM_MARK = "backscroll:system";
