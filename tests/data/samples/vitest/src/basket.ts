import { lineTotal, type Cents, type Line } from "./price";

export class Basket {
  readonly #lines: Line[] = [];

  add(line: Line): this {
    this.#lines.push(line);
    return this;
  }

  /** What everything in it costs. */
  total(): Cents {
    return this.#lines.reduce((sum, each) => sum + lineTotal(each), 0);
  }

  get size(): number {
    return this.#lines.length;
  }
}
