// Reads a JSON list of Mermaid texts from standard input and prints what the real mermaid makes of each.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const installed = createRequire(pathToFileURL(`${process.argv[2]}/`));
const load = (name) => import(pathToFileURL(installed.resolve(name)).href);
const { JSDOM } = await load("jsdom");
const page = new JSDOM("<!doctype html><body></body>");
globalThis.window = page.window;
globalThis.document = page.window.document;
const { default: mermaid } = await load("mermaid");
// GitHub runs it as strict as this.
mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });

const shown = (text) =>
  page.window.document.createRange().createContextualFragment(
    (text ?? "").replace(/ﬂ°°/g, "&#").replace(/ﬂ°/g, "&").replace(/¶ß/g, ";"),
  ).textContent;

async function read(text) {
  try {
    await mermaid.parse(text);
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
    return {
      nodes: [...db.getVertices().values()].map((each) => [each.id, shown(each.text), each.type, each.classes]),
      edges: db.getEdges().map((each) => [each.start, each.end, shown(each.text), each.stroke]),
      boxes: db.getSubGraphs().map((each) => [each.id, shown(each.title), [...each.nodes].sort()]),
      classes: [...db.getClasses().keys()],
      kinds: [...db.getVertices().values(), ...db.getEdges()].map((each) => each.labelType ?? ""),
    };
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
}

const found = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) found.push(await read(text));
console.log(JSON.stringify(found));
