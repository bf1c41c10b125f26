/** The name of a column without its table: `title` of `s.title`. */
export function columnOf({ column = "" }: { readonly column?: string }): string {
  return column.slice(column.indexOf(".") + 1);
}
