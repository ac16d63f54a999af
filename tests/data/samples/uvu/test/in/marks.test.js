"use strict";

const { test } = require("uvu");
const assert = require("uvu/assert");

const { shortened } = require("../../lib");

test("the mark takes the last place", async () => {
  assert.match(shortened("abcd", 2), /^a…$/);
});
test.run();
