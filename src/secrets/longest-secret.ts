/**
 * Text is masked with so many characters behind its cut, so that no part of a secret is shown. Longer
 * than any secret but a PEM.
 */
export const LONGEST_SECRET = 4_096;
