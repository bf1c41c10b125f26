/** The cases of the store's suite repeat by the same numbers. */

export { isStress, repeats } from "../../src/store/cases/repeats.cases.ts";
