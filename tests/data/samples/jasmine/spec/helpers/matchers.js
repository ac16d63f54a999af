beforeEach(() => {
  jasmine.addMatchers({
    toHold: () => ({ compare: (shelf, name) => ({ pass: shelf.holds(name) }) }),
  });
});
