/** What a parcel costs by its weight, in cents. */
export interface Tariff {
  readonly base: number;
  readonly perKilogram: number;
}

export function postage(grams: number, tariff: Tariff): number {
  return tariff.base + Math.floor(grams / 1000) * tariff.perKilogram;
}
