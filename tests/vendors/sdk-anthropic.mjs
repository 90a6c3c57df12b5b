// Talks with the harness's model server by Anthropic's own SDK: a step with two calls, their results, and the answer. It says
// what it read as JSON. `node sdk-anthropic.mjs URL KEY MODEL`; the story in tests/tests/sdks.rs runs it.

import Anthropic from '@anthropic-ai/sdk';

const [, , baseURL, apiKey, model] = process.argv;
const anthropic = new Anthropic({ apiKey, baseURL, maxRetries: 0 });
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const settings = {
  model, max_tokens: 2000, thinking: { type: 'adaptive', display: 'summarized' },
  system: [{ type: 'text', text: 'Be brief.' }],
  tools: [{ name: 'read_file', description: 'Reads a file.', input_schema: schema }],
};
let before = null;
const messages = [{ role: 'user', content: [{ type: 'text', text: 'Look.' }] }];

const step = await ask();
const results = step.calls.map(({ id, args }) => ({ type: 'tool_result', tool_use_id: id, content: `of ${args.path}` }));
messages.push({ role: 'user', content: results });
const answer = await ask();
messages.push({ role: 'user', content: [{ type: 'text', text: 'And now?' }] });
// So the cache misses, and the server is to say why.
settings.tools = settings.tools.concat({ name: 'write_file', description: 'Writes a file.', input_schema: schema });
const last = await ask();
console.log(JSON.stringify({ step, answer, last }));

/** Asks for an answer, and keeps its blocks in the conversation as they came. */
async function ask() {
  const diagnostics = { previous_message_id: before };
  const message = await anthropic.messages.stream({ ...settings, messages, diagnostics }).finalMessage();
  const { content, stop_reason: reason, usage } = message;
  before = message.id;
  messages.push({ role: 'assistant', content });
  const joined = (type) => content.filter((block) => block.type === type).map((block) => block[type]).join('');
  return {
    text: joined('text'), thought: joined('thinking'),
    calls: content.filter((block) => block.type === 'tool_use').map(({ id, input }) => ({ id, args: input })),
    signatures: content.filter((block) => block.signature).length,
    finished: reason === 'end_turn', cached: usage.cache_read_input_tokens,
    missed: message.diagnostics?.cache_miss_reason?.type,
  };
}
