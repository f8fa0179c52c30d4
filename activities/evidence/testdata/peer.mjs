// The approximate aligner of claude-memory-layer over an alignment file, for BenchmarkPeer: run
// `npm install --ignore-scripts claude-memory-layer@1.2.3` in a directory and name it in AXIOMMIND_PEER.
// It prints the CPU time of each class in microseconds, and how many spans have the true boundaries.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [directory, file] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(directory), "package.json"));
const core = path.join(path.dirname(require.resolve("claude-memory-layer/package.json")), "dist/core/index.js");
const { EvidenceAligner } = await import(pathToFileURL(core));

const aligner = new EvidenceAligner();
const classes = {};
for (const item of JSON.parse(fs.readFileSync(file)).items) {
  const before = process.cpuUsage();
  const result = aligner.alignSingleEvidence([item.message], { messageIndex: 0, quote: item.quote });
  const used = process.cpuUsage(before);
  const c = (classes[item.cls] ??= { items: 0, aligned: 0, boundaries: 0, microseconds: 0 });
  c.items++;
  c.microseconds += used.user + used.system;
  if (!result.aligned) continue;
  c.aligned++;
  if (item.truth.some((t) => t.u16[0] === result.evidence.spanStart && t.u16[1] === result.evidence.spanEnd)) c.boundaries++;
}
console.log(JSON.stringify(classes));
