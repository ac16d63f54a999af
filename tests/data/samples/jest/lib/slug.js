"use strict";

const SEPARATORS = /[^a-z0-9]+/g;

/** A text as the part of an address. */
function slug(text) {
  return text.toLowerCase().replace(SEPARATORS, "-");
}

module.exports = { slug };
