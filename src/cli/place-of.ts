/** A message as hits, blame and memories name it: `5f0c2a91#12`, the session and the message's number. */
export function placeOf(text: string): { readonly id: string; readonly number?: string } {
  const [, id, number] = /^([^#\s]+)#(\d{1,15})$/.exec(text) ?? [];
  return id === undefined || number === undefined ? { id: text } : { id, number };
}
