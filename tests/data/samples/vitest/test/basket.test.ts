import { beforeEach, describe, expect, it } from "vitest";

import { Basket } from "../src";

describe("a basket", () => {
  let basket: Basket;

  beforeEach(() => {
    basket = new Basket();
  });

  it("is empty at first", () => {
    expect(basket.size).toBe(0);
    expect(basket.total()).toBe(0);
  });

  describe("with lines", () => {
    it.each([
      [1, 100],
      [3, 300],
    ])("of %i pieces costs %i", (count, wanted) => {
      expect(basket.add({ name: "tea", cents: 100, count }).total()).toBe(wanted);
    });

    it("adds them up (cents)", async () => {
      basket.add({ name: "tea", cents: 250, count: 2 }).add({ name: "milk", cents: 99, count: 1 });
      await Promise.resolve();
      expect(basket.total()).toBe(599);
    });
  });

  it.todo("keeps names apart");
});
