export { Shelf } from "./shelf.js";
export { sorted } from "./sorting.js";
