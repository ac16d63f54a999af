// A reporter for mocha of any age that reports its tests as report.mjs does node's: one JSON object a line, as soon as it happens.
// Its own report for machines says in which file a test stands in newer versions alone.
"use strict";

const fs = require("fs");

const LONGEST = 4000;

function words(error) {
  const message = String((error && error.message) || error || "");
  const stack = String((error && error.stack) || "");
  return (stack.indexOf(message) >= 0 ? stack : message + "\n" + stack).slice(0, LONGEST);
}

function fileOf(test) {
  for (let each = test; each; each = each.parent) {
    if (each.file) return each.file;
  }
  const current = test.ctx && test.ctx.currentTest;
  return (current && current.file) || "";
}

module.exports = function Reporter(runner) {
  const report = fs.openSync(process.env.COGWORKS_REPORT, "a");

  function write(type, test, more) {
    const suite = test.parent && test.parent.fullTitle ? test.parent.fullTitle() : "";
    const file = fileOf(test);
    const about = { name: suite, nesting: 0, file: file };
    if (suite) fs.writeSync(report, JSON.stringify(Object.assign({ type: "test:start" }, about)) + "\n");
    const line = { type: type, name: test.title, nesting: suite ? 1 : 0, file: file, skip: false, message: "" };
    fs.writeSync(report, JSON.stringify(Object.assign(line, more)) + "\n");
  }

  runner.on("pass", (test) => write("test:pass", test));
  runner.on("pending", (test) => write("test:pass", test, { skip: true }));
  runner.on("fail", (test, error) => write("test:fail", test, { message: words(error) }));
};
