"use strict";

const { slug } = require("../lib");

describe("slug", () => {
  test.each([
    ["Tea", "tea"],
    ["Green tea", "green-tea"],
  ])("of %p is %p", (title, wanted) => {
    expect(slug(title)).toBe(wanted);
  });

  it("keeps digits", () => {
    expect(slug("7 up")).toMatchInlineSnapshot(`"7-up"`);
  });
});
