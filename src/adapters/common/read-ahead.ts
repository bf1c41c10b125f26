/** Prefetching of pages that do not depend on each other. */

/**
 * Yields the results of `read` in the order of `places`. Two reads are in flight, so that the store reads
 * the next page while the caller's thread decodes this one.
 */
export async function* readAhead<Place, Page>(
  places: Iterable<Place>,
  read: (place: Place) => Promise<Page>,
): AsyncGenerator<Page> {
  const waiting: Promise<Page>[] = [];
  const start = (place: Place) => {
    const page = read(place);
    // A caller that stops early does not wait for it.
    page.catch(() => undefined);
    waiting.push(page);
  };
  for (const place of places) {
    start(place);
    if (waiting.length > 1) yield (await waiting.shift()) as Page;
  }
  for (const page of waiting) yield await page;
}
