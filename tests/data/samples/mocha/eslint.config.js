"use strict";

const globals = { process: "readonly", require: "readonly", module: "writable", describe: "readonly", it: "readonly", beforeEach: "readonly" };

module.exports = [
  { languageOptions: { sourceType: "commonjs", globals }, rules: { "no-undef": "error", "no-unused-vars": "error" } },
];
