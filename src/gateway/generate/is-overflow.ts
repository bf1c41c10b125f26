import { BackscrollError } from "../../model/errors.ts";
import { overflowOf } from "../../providers/model-failure.ts";

/**
 * Whether an error means that the context is too long for the model: ours, or one of a provider, the
 * AI SDK or a provider's own package.
 */
export function isOverflow(error: unknown): boolean {
  if (!BackscrollError.is(error)) return overflowOf(error) !== undefined;
  return error.code === "model_failed" && error.details["kind"] === "overflow";
}
