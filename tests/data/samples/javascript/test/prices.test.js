import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { total } from "../src/prices.js";

describe("total", () => {
  it("adds up", () => assert.equal(total(1, 2), 3));
  it("is nothing without prices", () => assert.equal(total(), 0));
});
