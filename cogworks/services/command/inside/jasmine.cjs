// A helper of Jasmine that reports its tests as report.mjs does node's: one JSON object a line, as soon as it happens.
const fs = require("node:fs");

const LONGEST = 4000;
const PLACE = /\(?((?:file:\/\/)?\/[^()\n]+?):\d+:\d+\)?$/;
const report = fs.openSync(process.env.COGWORKS_REPORT, "a");
const files = new Map();
let nesting = 0;

function place(line) {
  return (PLACE.exec(line ?? "") ?? ["", ""])[1].replace("file://", "");
}

// Older versions of Jasmine do not say in which file a test stands.
for (const name of ["it", "fit", "xit", "describe", "fdescribe", "xdescribe"]) {
  const declare = globalThis[name];
  globalThis[name] = (...words) => {
    const made = declare(...words);
    files.set(made?.id, place(new Error().stack.split("\n")[2]));
    return made;
  };
}

function words(failed) {
  const [message, stack] = [String(failed?.message ?? ""), String(failed?.stack ?? "")];
  return (stack.includes(message) ? stack : `${message}\n${stack}`).slice(0, LONGEST);
}

function write(type, result, more = {}) {
  const failed = result.failedExpectations?.[0];
  const line = {
    type,
    name: result.description ?? "",
    nesting,
    file: files.get(result.id) ?? result.filename?.replace("file://", "") ?? "",
    skip: result.status === "pending" || result.status === "excluded",
    message: words(failed),
    ...more,
  };
  fs.writeSync(report, JSON.stringify(line) + "\n");
}

function ended(result) {
  write(result.failedExpectations?.length || result.status === "failed" ? "test:fail" : "test:pass", result);
}

jasmine.getEnv().addReporter({
  suiteStarted(result) {
    write("test:start", result);
    nesting += 1;
  },
  specStarted(result) {
    write("test:start", result);
  },
  specDone(result) {
    // What a filter left out did not run.
    if (result.status !== "excluded") ended(result);
  },
  suiteDone(result) {
    nesting -= 1;
    ended(result);
  },
  jasmineDone(result) {
    // What went wrong outside of every test: a file that cannot be loaded, or an `afterAll` around the whole suite.
    for (const failed of result.failedExpectations ?? []) {
      const message = words(failed);
      const first = message.split("\n").map(place).find((each) => each && !each.includes("/node_modules/"));
      const isFile = failed.globalErrorType === "load";
      write("test:fail", {}, { name: failed.globalErrorType, isFile, file: first ?? "", message });
    }
  },
});
