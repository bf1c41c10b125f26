/** `1,234`, without a locale, whose first use costs a short command a tenth of its time. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3}){1,7}$)/g, ",");
}
