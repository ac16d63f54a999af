"use strict";

module.exports = { ...require("./registry"), ...require("./slug") };
