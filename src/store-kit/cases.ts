/** The public names of `backscroll/store-kit/cases`: the conformance suite of a backend. It needs vitest. */

export type { Cases, OpenedStore } from "../store/cases/fixture.cases.ts";
export { TRIVIAL_INDEX } from "../store/cases/trivial-index.cases.ts";
export { ALL_CASES, SORTING_CASES, storeCases, TURN_CASES } from "../store/store.cases.ts";
