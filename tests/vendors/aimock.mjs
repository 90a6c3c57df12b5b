// A model server that others wrote, aimock, as a second opinion on all wires. Its first line is its address; when its
// input ends, it prints the requests that it took, as it understood them, and goes.
//
//   node aimock.mjs NAME INPUT INPUT    # the calls that its model makes: a tool's name and the two inputs, as JSON

import process from "node:process";
import { LLMock } from "@copilotkit/aimock";

const [name, ...inputs] = process.argv.slice(2);
const toolCalls = inputs.map((input) => ({ name, arguments: input }));
// Each wire has names of its own for the same two numbers.
const [input, output] = [700, 30];
const usage = {
  prompt_tokens: input,
  completion_tokens: output,
  input_tokens: input,
  output_tokens: output,
  promptTokenCount: input,
  candidatesTokenCount: output,
};
const step = { content: "I look.", reasoning: "Both.", toolCalls, usage };
const whole = { content: "A second answer, which is whole and long enough to come in several pieces." };

const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
const answers = ({ messages }) => messages.at(-1).role === "tool";
const asks = (words) => (request) => {
  const said = request.messages.findLast(({ role }) => role === "user").content;
  return !answers(request) && JSON.stringify(said).includes(words);
};
mock.on({ predicate: answers }, { content: "One and two.", usage });
mock.on({ predicate: asks("Read both.") }, step);
for (const [words, fault] of [
  ["Too many.", { chaos: { rateLimitRate: 1 } }],
  ["Broken.", { chaos: { dropRate: 1 } }],
  ["Garbage.", { chaos: { malformedRate: 1 } }],
  ["Hung up.", { chaos: { disconnectRate: 1 } }],
  ["Cut.", { truncateAfterChunks: 2 }],
]) {
  // Each model meets the fault once.
  const met = new Set();
  const first = (request) => asks(words)(request) && !met.has(request.model) && met.add(request.model);
  mock.on({ predicate: first }, whole, { ...fault, chunkSize: 10 });
  mock.on({ predicate: asks(words) }, whole);
}
await mock.start();
console.log(mock.url);

process.stdin.resume().on("end", async () => {
  const taken = mock.getRequests().map(({ path, body, response }) => ({ path, body, status: response.status }));
  process.stdout.write(JSON.stringify(taken));
  await mock.stop();
});
