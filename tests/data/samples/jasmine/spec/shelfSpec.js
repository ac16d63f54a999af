import { Shelf } from "../src/index.js";

describe("a shelf", () => {
  let shelf;
  beforeEach(() => {
    shelf = new Shelf(2);
  });

  it("holds what was put there", () => {
    shelf.put("Emma");
    expect(shelf).toHold("Emma");
    expect(shelf).not.toHold("Ulysses");
  });

  describe("that is full", () => {
    beforeEach(() => ["Emma", "Ulysses"].forEach((each) => shelf.put(each)));

    it("takes no more", () => expect(() => shelf.put("Dracula")).toThrowError(RangeError));
    xit("may be asked for room", () => fail());
  });
});
