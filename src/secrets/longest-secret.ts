/**
 * Characters after a cut that are masked with it, so that no part of a secret is shown. Longer than
 * any secret except a PEM.
 */
export const LONGEST_SECRET = 4_096;
