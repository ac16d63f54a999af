"use strict";

module.exports = { ...require("./minutes"), ...require("./week") };
