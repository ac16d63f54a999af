"use strict";

const assert = require("node:assert/strict");

const { minutes } = require("../lib");

describe("a time of day", () => {
  for (const [text, wanted] of [["0:00", 0], ["09:30", 570]]) {
    it(`${text} is ${wanted} minutes`, () => assert.equal(minutes(text), wanted));
  }
  it("has a colon", () => assert.throws(() => minutes("930"), RangeError));
  it("may be in words");
});
