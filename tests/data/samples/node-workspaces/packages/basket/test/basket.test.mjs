import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { total } from "../src/index.js";

describe("a basket", () => {
  it("adds up", () => assert.equal(total(["1.50", "2"]), "3.50"));
  it("of nothing is free", () => assert.equal(total([]), "0.00"));
  it("knows taxes", { skip: "not yet" }, () => assert.fail());
});
