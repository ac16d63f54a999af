// How Jasmine tells `scripts/bench languages` of its tests, without any part of the service.
module.exports = class Voice {
  specDone({ status, description }) {
    console.log(`spec ${status}: ${description.replace(/\s+/g, " ")}`);
  }
};
