// Tells which file a build made of a test: of the same name, in folders that end alike. Without one, the test itself.
import { readdirSync } from "node:fs";
import { join, sep } from "node:path";

const [asked, ...places] = process.argv.slice(2);
const stem = (name) => name.replace(/\.[^.]+$/, "");
const parts = (path) => path.split(sep).slice(0, -1).reverse();
const around = parts(asked);

function* files(folder) {
  let entries = [];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {}
  for (const entry of entries) {
    if (entry.name === "node_modules" || entry.name === ".git") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.[cm]?jsx?$/.test(entry.name)) yield path;
  }
}

function alike(path) {
  const folders = parts(path);
  let count = 0;
  while (count < folders.length && folders[count] === around[count]) count += 1;
  return count;
}

let best = asked;
let most = -1;
for (const place of places)
  for (const path of files(place))
    if (path !== asked && stem(path).split(sep).pop() === stem(asked).split(sep).pop() && alike(path) > most)
      [best, most] = [path, alike(path)];
process.stdout.write(best);
