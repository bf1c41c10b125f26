/** The first message at or after a time, by binary search: a session is ordered by time. */
export async function firstSince(
  time: number,
  total: number,
  timeOf: (index: number) => Promise<number | undefined>,
): Promise<number> {
  let low = 0;
  let high = total - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = await timeOf(middle);
    if (at !== undefined && at < time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low);
}
