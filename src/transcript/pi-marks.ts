/** Names of our own records in pi's format, for features that it lacks. */

/** A final record that points to the leaf, if it is not at the last line. */
export const LEAF_MARK = "backscroll:leaf";

/** A system message, which pi's sessions lack. */
export const SYSTEM_MARK = "backscroll:system";
