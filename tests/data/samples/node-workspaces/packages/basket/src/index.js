import { format, parse } from "../../money/src/index.js";

/** What some prices, as people write them, come to. */
export function total(prices) {
  return format(prices.map(parse).reduce((sum, each) => sum + each, 0));
}
