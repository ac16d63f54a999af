"use strict";

const { suite, test } = require("uvu");
const assert = require("uvu/assert");

const { shortened } = require("../lib");

test("a short line stays", () => {
  assert.is(shortened("abc", 3), "abc");
});
test.run();

const long = suite("a long line");
long("is cut", () => {
  assert.is(shortened("abcd", 3), "ab…");
});
long.skip("keeps its end", () => {});
long.run();
