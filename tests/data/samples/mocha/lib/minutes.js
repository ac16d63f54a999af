"use strict";

const FORM = /^(\d{1,2}):(\d{2})$/;

/** The minutes since midnight that a time of day stands for. */
function minutes(text) {
  const found = FORM.exec(text);
  if (!found) throw new RangeError(`not a time of day: ${text}`);
  return 60 * Number(found[1]) + Number(found[2]);
}

module.exports = { minutes };
