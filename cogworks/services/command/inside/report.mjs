// A reporter of node's test runner: one JSON object a line for whatever begins and ends.
const LONGEST = 4000;

export default async function* report(source) {
  const said = new Map();
  for await (const { type, data } of source) {
    const file = data.file ?? "";
    if (type === "test:stderr") said.set(file, ((said.get(file) ?? "") + data.message).slice(0, LONGEST));
    if (type !== "test:start" && type !== "test:pass" && type !== "test:fail") continue;
    const error = data.details?.error;
    const cause = error?.cause ?? error;
    const isFile = data.nesting === 0 && (data.name === file || (file !== "" && file.endsWith("/" + data.name)));
    let message = type === "test:fail" ? String(cause?.stack ?? cause?.message ?? cause ?? "") : "";
    if (isFile && message && said.get(file)) message = said.get(file);
    yield JSON.stringify({
      type,
      name: data.name,
      nesting: data.nesting,
      file,
      line: data.line,
      skip: data.skip !== undefined && data.skip !== false,
      todo: data.todo !== undefined && data.todo !== false,
      isFile,
      failureType: error?.failureType ?? "",
      message: message.slice(0, LONGEST),
    }) + "\n";
  }
}
