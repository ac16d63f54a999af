/** An amount of money in cents. */
export type Cents = number;

export interface Line {
  readonly name: string;
  readonly cents: Cents;
  readonly count: number;
}

/** What a line costs. */
export function lineTotal(line: Line): Cents {
  return line.cents * line.count;
}
