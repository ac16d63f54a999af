import { sorted } from "../src/index.js";

describe("the order of titles", () => {
  it("is that of letters", () => expect(sorted(["Ulysses", "Emma"])).toEqual(["Emma", "Ulysses"]));
  it("leaves what it was given", () => {
    const given = ["b", "a"];
    sorted(given);
    expect(given).toEqual(["b", "a"]);
  });
});
