// Listens to uvu of any age, from before it is loaded: one JSON object a line, as report.mjs reports node's tests.
// What uvu prints names the tests that fail, and of those that pass only the number.
"use strict";

const fs = require("fs");
const Module = require("module");
const { resolve } = require("path");
const { fileURLToPath } = require("url");

const LONGEST = 4000;
const LOADER = /[/\\]uvu[/\\](?:run[/\\]index|bin)\.js$/;
const OWN = /[/\\]uvu[/\\](?:assert[/\\]|dist[/\\]|run[/\\]|bin\.js)/;
const bind = Function.prototype.bind;
const kept = {};
let isListening = false;
let report = null;
let waiting = 0;
let running = null;
let thrown = "";
let isBroken = false;

function write(event) {
  if (report === null) {
    report = fs.openSync(process.env.COGWORKS_REPORT, "a");
    fs.writeSync(report, JSON.stringify({ type: "run:start" }) + "\n");
  }
  fs.writeSync(report, JSON.stringify(event) + "\n");
}

function words(error) {
  if (!(error instanceof Error)) return String(error).slice(0, LONGEST);
  const { name, message, operator, details } = error;
  const lines = String(error.stack || "").split("\n");
  const frames = lines.filter((line) => /^\s+at /.test(line) && !OWN.test(line) && !line.includes(__filename));
  const head = `${name}: ${message}${operator ? ` (${operator})` : ""}`;
  return [head, ...(typeof details === "string" ? [details] : []), ...frames].join("\n").slice(0, LONGEST);
}

function path(site) {
  const name = String(site.getFileName() || "");
  return (name.startsWith("file://") ? fileURLToPath(name) : name).split("?")[0];
}

// Whose loading made a suite: the file that uvu was loading, else the first that is no package's.
function fileOfCaller(name) {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  Error.prepareStackTrace = (_, sites) => sites;
  const files = new Error().stack.map(path).filter((each) => each.startsWith("/") && each !== __filename);
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  const named = name && files.find((each) => each === name || each.endsWith(`/${name}`));
  const own = files.find((each) => !each.includes("/node_modules/") && !OWN.test(each));
  return named || name || own || resolve(process.argv[1] || "");
}

class Listener {
  constructor(test, suite, file) {
    this.place = { name: test.name, nesting: suite ? 1 : 0, file };
    this.suite = suite;
  }

  begin() {
    running = this;
  }

  end(error, isFailed) {
    running = null;
    waiting -= 1;
    if (this.suite) write({ type: "test:start", name: this.suite, nesting: 0, file: this.place.file });
    const message = isFailed ? words(error) : "";
    write(Object.assign({ type: isFailed ? "test:fail" : "test:pass", skip: false, message }, this.place));
  }
}

async function all(hooks, state) {
  for (const hook of hooks) await hook(state);
}

async function failureOf(steps) {
  let failure = null;
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failure = failure || { error };
    }
  }
  return failure;
}

// The hooks around each test become part of it: what they throw is a failure of that test.
function heard(suite, ctx, file) {
  const { bEach = [], aEach = [], before } = ctx;
  const listeners = [];
  const listening = (test) => {
    const listener = new Listener(test, suite, file);
    listeners.push(listener);
    const handler = async (state) => {
      listener.begin();
      const ran = async () => {
        await all(bEach, state);
        await test.handler(state);
      };
      const failure = await failureOf([ran, () => all(aEach, state)]);
      listener.end(failure && failure.error, Boolean(failure));
      // Of what is no error uvu cannot read the name, and passes over all other tests of the suite.
      if (failure) throw failure.error instanceof Error ? failure.error : new Error(String(failure.error));
    };
    return Object.assign({}, test, { handler });
  };
  const isNarrowed = ctx.only.length > 0;
  const kind = isNarrowed ? "only" : "tests";
  ctx[kind] = ctx[kind].map(listening);
  waiting += listeners.length;
  ctx.bEach = [];
  ctx.aEach = [];
  ctx.before = [
    async (state) => {
      try {
        await all(before, state);
      } catch (error) {
        // uvu passes over the tests of such a suite, and calls that a success.
        for (const each of listeners) each.end(error, true);
        isBroken = true;
        throw error;
      }
    },
  ];
}

function isContext(value) {
  const lists = ["tests", "only", "before", "after"];
  return typeof value === "object" && value !== null && lists.every((name) => Array.isArray(value[name]));
}

// A suite that is complete is put into the queue as a bound function; only while it is bound are its tests to be seen.
function listen() {
  if (isListening) return;
  isListening = true;
  Function.prototype.bind = function (...given) {
    const [self, ctx, suite] = given;
    if (self === 0 && isContext(ctx)) {
      const [name] = (kept.UVU_QUEUE || [])[globalThis.UVU_INDEX || 0] || [];
      heard(typeof suite === "string" ? suite : "", ctx, fileOfCaller(typeof name === "string" ? name : ""));
    }
    return Reflect.apply(bind, this, given);
  };
}

// Versions before 0.5 set the second alone, and where a program loads them neither.
for (const name of ["UVU_QUEUE", "UVU_DEFER"]) {
  const set = (value) => {
    listen();
    kept[name] = value;
  };
  Object.defineProperty(globalThis, name, { configurable: true, get: () => kept[name], set });
}
const load = Module._load;
Module._load = function (request, parent, ...given) {
  if (request === "uvu") listen();
  try {
    return Reflect.apply(load, this, [request, parent, ...given]);
  } catch (error) {
    if (!parent || !LOADER.test(parent.filename || "") || !request.startsWith("/")) throw error;
    // One file that cannot be loaded would keep those of all others from running.
    isBroken = true;
    const text = String((error && error.stack) || error);
    const message = text.split("\n").filter((line) => !line.includes(__filename)).join("\n").slice(0, LONGEST);
    write({ type: "test:fail", isFile: true, name: request, nesting: 0, file: request, message });
    return {};
  }
};

process.on("uncaughtExceptionMonitor", (error) => {
  thrown = words(error);
});
process.on("exit", () => {
  if (running) running.end(`${thrown}\nthe process ended before this test did`.trim(), true);
  if (isBroken) process.exitCode = process.exitCode || 1;
  // Where tests are left, the run did not come to its end.
  if (report !== null && waiting <= 0) fs.writeSync(report, JSON.stringify({ type: "run:end" }) + "\n");
});
