/** Cents of a text such as `1.50`. */
export function parse(text) {
  const [whole, part = "0"] = text.split(".");
  return Number(whole) * 100 + Number(part.padEnd(2, "0"));
}

/** A text for people. */
export function format(cents) {
  return `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}
