import assert from "node:assert/strict";
import { describe, it, test } from "node:test";

import { format, parse } from "../src/index.js";

describe("parse", () => {
  it("reads whole numbers", () => assert.equal(parse("3"), 300));
  it("reads parts", () => assert.equal(parse("1.5"), 150));
  it("is not there yet", { todo: true }, () => assert.fail("to do"));
});

test("format", async (t) => {
  for (const [cents, wanted] of [
    [5, "0.05"],
    [1250, "12.50"],
  ]) {
    await t.test(`of ${cents}`, () => assert.equal(format(cents), wanted));
  }
});
