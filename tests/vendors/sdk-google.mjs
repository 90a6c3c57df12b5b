// Talks with the harness's model server by Google's own SDK: a step with two calls, their results, and the answer. It says what
// it read as JSON. `node sdk-google.mjs URL KEY MODEL`; the story in tests/tests/sdks.rs runs it.

import { FinishReason, GoogleGenAI } from '@google/genai';

const [, , baseUrl, apiKey, model] = process.argv;
const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl, apiVersion: 'v1beta' } });
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const declared = [{ name: 'read_file', description: 'Reads a file.', parametersJsonSchema: schema }];
const config = {
  systemInstruction: 'Be brief.', maxOutputTokens: 1000, tools: [{ functionDeclarations: declared }],
  thinkingConfig: { includeThoughts: true },
};
const contents = [{ role: 'user', parts: [{ text: 'Look.' }] }];

const step = await ask();
const results = step.calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: `of ${args.path}` } } }));
contents.push({ role: 'user', parts: results });
const answer = await ask();
contents.push({ role: 'user', parts: [{ text: 'And now?' }] });
const last = await ask();
console.log(JSON.stringify({ step, answer, last }));

/** Asks for an answer, and keeps its parts in the conversation as they came. */
async function ask() {
  const read = { text: '', thought: '', calls: [], signatures: 0, finished: false, cached: 0 };
  const parts = [];
  for await (const chunk of await google.models.generateContentStream({ model, contents, config })) {
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) {
      parts.push(part);
      read[part.thought ? 'thought' : 'text'] += part.text ?? '';
      if (part.thoughtSignature !== undefined) read.signatures += 1;
    }
    read.calls.push(...(chunk.functionCalls ?? []));
    read.finished ||= candidate?.finishReason === FinishReason.STOP;
    read.cached = chunk.usageMetadata?.cachedContentTokenCount ?? read.cached;
  }
  contents.push({ role: 'model', parts });
  return read;
}
