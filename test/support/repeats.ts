/** Re-exported: the store's suite uses the same numbers. */

export { isStress, repeats } from "../../src/store/cases/repeats.cases.ts";
