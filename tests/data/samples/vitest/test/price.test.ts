import { expect, test } from "vitest";

import { lineTotal } from "../src/price";

test("a line costs its pieces", () => {
  expect(lineTotal({ name: "tea", cents: 5, count: 4 })).toBe(20);
});

test.skip("a line knows its currency", () => {
  expect.unreachable();
});
