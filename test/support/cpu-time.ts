/**
 * What some work costs, for tests that nothing takes quadratic time.
 *
 * The processor's time, and not the clock's: what else the machine does is not counted.
 */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
