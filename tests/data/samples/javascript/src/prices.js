/** The sum of prices in cents; those below zero do not count. */
export function total(...cents) {
  return cents.reduce((sum, each) => sum + each, 0);
}
