"use strict";

const test = require("tape");

const { width } = require("../..");

test("a letter is one column", async (t) => {
  t.equal(width("abc"), 3);
  t.equal(width(""), 0);
});
