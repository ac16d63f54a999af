/** Titles in the order in which they stand on a shelf. */
export function sorted(titles) {
  return [...titles].sort((one, other) => one.localeCompare(other, "en"));
}
