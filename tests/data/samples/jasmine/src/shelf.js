import { sorted } from "./sorting.js";

/** Books by title, as many as there is room for. */
export class Shelf {
  #titles = [];

  constructor(room) {
    this.room = room;
  }

  put(title) {
    if (this.#titles.length >= this.room) throw new RangeError("the shelf is full");
    this.#titles = sorted([...this.#titles, title]);
  }

  holds(title) {
    return this.#titles.includes(title);
  }

  get titles() {
    return this.#titles;
  }
}
