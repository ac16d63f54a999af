"use strict";

exports.shortened = (line, most) => (line.length > most ? `${line.slice(0, most - 1)}…` : line);
