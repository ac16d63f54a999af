export { Basket } from "./basket";
export { lineTotal } from "./price";
export type { Cents, Line } from "./price";
