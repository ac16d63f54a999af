"use strict";

const assert = require("node:assert/strict");

const { Week } = require("../lib");

describe("a week", () => {
  let week;
  beforeEach(() => {
    week = new Week().open("Monday", "9:00", "18:00");
  });

  it("is closed on other days", () => assert.ok(!week.isOpen("Sunday", "10:00")));
  describe("on an open day", () => {
    it("is open in between", () => assert.ok(week.isOpen("Monday", "17:59")));
    it("is closed at the end", () => assert.ok(!week.isOpen("Monday", "18:00")));
  });
});
