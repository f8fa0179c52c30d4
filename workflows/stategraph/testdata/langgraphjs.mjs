// The two graphs of bench_test.go in @langchain/langgraph, for comparison:
// copy this file into a directory where `npm install @langchain/langgraph@1.4.12
// @langchain/core --legacy-peer-deps` was run, then `node langgraphjs.mjs`.
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";

const steps = 1000;
const Counter = Annotation.Root({ n: Annotation({ reducer: (_, b) => b, default: () => 0 }) });
const sequential = new StateGraph(Counter)
  .addNode("a", (s) => ({ n: s.n + 1 }))
  .addEdge(START, "a")
  .addConditionalEdges("a", (s) => (s.n < steps ? "a" : END), ["a", END])
  .compile();

const width = 500;
const Sum = Annotation.Root({ sum: Annotation({ reducer: (a, b) => a + b, default: () => 0 }) });
const fan = new StateGraph(Sum)
  .addNode("work", (packet) => ({ sum: packet.item }))
  .addConditionalEdges(START, () => Array.from({ length: width }, (_, i) => new Send("work", { item: i })), ["work"])
  .compile();

async function measure(name, runs, run, want) {
  await run();
  const times = [];
  for (let i = 0; i < runs; i++) {
    const before = process.hrtime.bigint();
    const got = await run();
    times.push(Number(process.hrtime.bigint() - before) / 1e6);
    if (got !== want) throw new Error(`${name}: got ${got}, want ${want}`);
  }
  times.sort((a, b) => a - b);
  console.log(`${name}\t${times[times.length >> 1].toFixed(1)} ms (median of ${runs})`);
}

await measure("sequential 1000", 7, async () => (await sequential.invoke({}, { recursionLimit: steps + 1 })).n, steps);
await measure("send 500", 7, async () => (await fan.invoke({})).sum, (width * (width - 1)) / 2);
