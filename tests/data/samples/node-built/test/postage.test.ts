import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { postage, type Tariff } from "../src/index.js";

const inland: Tariff = { base: 300, perKilogram: 50 };

describe("postage", () => {
  it("begins with the base", () => assert.equal(postage(0, inland), 300));
  for (const kilograms of [1, 20]) {
    it(`counts ${kilograms} kilograms`, () => {
      assert.equal(postage(kilograms * 1000, inland), 300 + kilograms * 50);
    });
  }
});
