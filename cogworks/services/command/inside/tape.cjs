// Listens to tape of any age, from before it is loaded: one JSON object a line for each test that begins and ends.
// Its own report names neither the file of a test nor where a test ends and the next begins.
"use strict";

const fs = require("fs");
const Module = require("module");
const { dirname, join } = require("path");
const { fileURLToPath } = require("url");
const { inspect } = require("util");
const { threadId } = require("worker_threads");

const LONGEST = 4000;
const LONGEST_VALUE = 500;
const known = new Set();
const open = new Set();
let report = null;
let number = 0;
let thrown = "";

function write(event) {
  if (report === null) report = fs.openSync(process.env.COGWORKS_REPORT, "a");
  fs.writeSync(report, JSON.stringify(Object.assign({ process: `${process.pid}.${threadId}` }, event)) + "\n");
}

function isTape(made) {
  const own = typeof made === "function" && made.prototype;
  return Boolean(own) && ["run", "test", "plan", "comment", "_assert", "_end"].every((name) => typeof own[name] === "function");
}

function path(site) {
  const name = String(site.getFileName() || "");
  return name.startsWith("file://") ? fileURLToPath(name) : name;
}

// The file whose loading made a test: a helper that makes some for others is no place to run them from.
function placeOfCaller() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  let place = "";
  for (const site of sites) {
    const file = path(site);
    const isOwn = file.startsWith("/") && !file.includes("/node_modules/") && file !== __filename;
    if (isOwn) place = file;
    else if (place && (!file.startsWith("/") || /_compile$/.test(site.getFunctionName() || "")) && file !== "") break;
  }
  return place;
}

function shown(value) {
  return inspect(value, { depth: 4, breakLength: Infinity }).slice(0, LONGEST_VALUE);
}

function words(result) {
  const parts = [`${result.name} (${result.operator || "assertion"})`];
  if ("expected" in result) parts.push(`expected ${shown(result.expected)}`);
  if ("actual" in result && !(result.actual instanceof Error)) parts.push(`found ${shown(result.actual)}`);
  if (result.file) parts.push(`at ${result.file}${String(result.file).includes(":") ? "" : `:${result.line}`}`);
  const cause = result.actual instanceof Error ? result.actual.stack : "";
  return (cause ? `${cause}\n` : "") + parts.join(", ");
}

class Listener {
  constructor(test, around) {
    this.test = test;
    this.around = around;
    this.file = around ? around.file : placeOfCaller();
    this.number = number++;
    this.state = { asserted: 0, skipped: 0, failed: false, message: "", inner: 0 };
    this.isOver = false;
    test.on("prerun", () => this.begin());
    test.on("result", (result) => typeof result === "object" && result && this.asserted(result));
    test.on("test", (inner) => {
      this.state.inner += 1;
      new Listener(inner, this);
    });
    // What tape finds wrong with the end itself comes right after it.
    test.on("end", () => process.nextTick(() => this.end()));
  }

  begin() {
    open.add(this);
    this.writeState("begun");
  }

  asserted(result) {
    const isLeft = Boolean(result.skip || result.todo || this.test._todo);
    this.state.asserted += 1;
    if (isLeft) this.state.skipped += 1;
    if (result.ok || isLeft || this.state.failed) return;
    this.state.failed = true;
    this.state.message = words(result);
    if (this.isOver) this.end();
  }

  end() {
    open.delete(this);
    this.isOver = true;
    const { asserted, skipped, failed } = this.state;
    const isLeft = Boolean(this.test._skip || this.test._todo) || (asserted > 0 && skipped === asserted);
    this.writeState(failed ? "failed" : isLeft ? "skipped" : "passed");
  }

  writeState(outcome) {
    const names = [];
    for (let each = this; each; each = each.around) names.unshift(each.test.name);
    const isOuter = this.state.inner > 0 && this.state.asserted === 0;
    const message = this.state.message.slice(0, LONGEST);
    write({ test: this.number, names, file: this.file, outcome, message, isOuter });
  }
}

function listening(Test) {
  const made = (test) => {
    new Listener(test, null);
    return test;
  };
  return new Proxy(Test, {
    construct: (target, given) => made(Reflect.construct(target, given)),
    apply: (target, _, given) => made(Reflect.construct(target, given)),
  });
}

function isOfTape(file) {
  try {
    return /tape/.test(JSON.parse(fs.readFileSync(join(dirname(dirname(file)), "package.json"), "utf8")).name);
  } catch {
    return false;
  }
}

// Where modules are looked for and not where they are loaded, for there it would stand in the stack of every error.
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...given) {
  const file = resolve.call(this, request, ...given);
  if (/[/\\]lib[/\\]test(?:\.js)?$/.test(request) && !known.has(file) && isOfTape(file)) {
    known.add(file);
    const made = require(file);
    if (isTape(made)) require.cache[file].exports = listening(made);
  }
  return file;
};

process.on("uncaughtExceptionMonitor", (error) => {
  // A missing module is missed where it is asked for, and not here.
  if (error && typeof error.stack === "string")
    error.stack = error.stack.split("\n").filter((line) => !line.includes(__filename)).join("\n");
  thrown = String((error && error.stack) || error);
});
process.on("exit", () => {
  for (const each of open) {
    if (!each.state.failed && each.state.message === "") each.state.message = `${thrown}\nthe process ended before this test did`.trim();
    each.state.failed = true;
    each.end();
  }
});
