"use strict";

const { width } = require("./width");

/** Rows of texts as lines whose columns stand below each other. */
function table(rows, { gap = 2 } = {}) {
  const widths = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] || 0, width(cell))));
  return rows.map((row) =>
    row
      .map((cell, at) => cell + " ".repeat(widths[at] - width(cell) + gap))
      .join("")
      .trimEnd(),
  );
}

module.exports = { table, width };
