"use strict";

const { minutes } = require("./minutes");

/** On which days a shop is open, and from when to when. */
class Week {
  constructor() {
    this.days = new Map();
  }

  open(day, from, to) {
    this.days.set(day, [minutes(from), minutes(to)]);
    return this;
  }

  isOpen(day, time) {
    const hours = this.days.get(day);
    return hours !== undefined && minutes(time) >= hours[0] && minutes(time) < hours[1];
  }
}

module.exports = { Week };
