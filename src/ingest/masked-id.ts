/**
 * Whether an id was masked, as `[REDACTED]` or `ses_***`: then it identifies nothing. Agents use none
 * of these characters in ids.
 */
export function isMasked(id: string): boolean {
  return /[[\]<>*]/.test(id);
}
