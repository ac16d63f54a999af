import test from "ava";

import { retried } from "./index.js";

test("a task that succeeds is asked once", async (t) => {
  let asked = 0;
  t.is(await retried(() => (asked += 1), 3), 1);
});

test("a task that fails › is asked again", async (t) => {
  let left = 2;
  const task = () => {
    left -= 1;
    if (left) throw new Error("not yet");
    return "done";
  };
  t.is(await retried(task, 2), "done");
});
