"use strict";

const test = require("tape");

const { table } = require("..");

test("columns stand below each other", (t) => {
  t.deepEqual(table([["a", "b"], ["long", "c"]]), ["a     b", "long  c"]);
  t.deepEqual(table([]), []);
  t.comment("no rows have no columns");
  t.end();
});

test("the gap", (t) => {
  t.test("may be narrow", (st) => {
    st.plan(1);
    st.deepEqual(table([["a", "b"]], { gap: 1 }), ["a b"]);
  });

  t.test("may be none", (st) => {
    st.deepEqual(table([["a", "b"]], { gap: 0 }), ["ab"]);
    st.end();
  });

  t.end();
});

test.skip("rows of unequal length", (t) => t.end());
