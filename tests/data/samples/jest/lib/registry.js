"use strict";

const { slug } = require("./slug");

/** Gives each title an address that no other one has. */
class Registry {
  constructor() {
    this.taken = new Map();
  }

  claim(title) {
    const name = slug(title);
    const times = (this.taken.get(name) ?? 0) + 1;
    this.taken.set(name, times);
    return times === 1 ? name : `${name}-${times}`;
  }
}

module.exports = { Registry };
