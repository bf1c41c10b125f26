/** `1,234`. By hand: the first use of a locale costs a short command a tenth of its time. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
