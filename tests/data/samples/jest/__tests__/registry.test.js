"use strict";

const { Registry } = require("../lib");

describe("a registry", () => {
  const registry = new Registry();

  it("claims a name", () => {
    expect(registry.claim("Tea")).toBe("tea");
  });

  it("counts the same name", () => {
    expect(registry.claim("tea")).toBe("tea-2");
  });

  it.skip("forgets", () => {});
});
