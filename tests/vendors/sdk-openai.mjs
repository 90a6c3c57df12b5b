// Talks with the harness's model server by OpenAI's own SDK, over Responses or Chat Completions: a step with two calls, their
// results, and the answer. It says what it read as JSON. `node sdk-openai.mjs URL KEY MODEL responses|chat`; the story in
// tests/tests/sdks.rs runs it.

import OpenAI from 'openai';

const [, , baseURL, apiKey, model, wire] = process.argv;
const openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
const tool = {
  name: 'read_file', description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};
const isChat = wire === 'chat';
const ask = isChat ? askChat : askResponses;
const conversation = [];

say('Look.');
const step = await ask();
for (const { id, args } of step.calls) {
  const text = `of ${args.path}`;
  conversation.push(isChat ? { role: 'tool', tool_call_id: id, content: text } : { type: 'function_call_output', call_id: id, output: text });
}
const answer = await ask();
say('And now?');
const last = await ask();
console.log(JSON.stringify({ step, answer, last }));

function say(text) {
  conversation.push(isChat ? { role: 'user', content: text } : { type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
}

/** Asks for an answer, and keeps its items in the conversation, without what the API says of them beside. */
async function askResponses() {
  const stream = openai.responses.stream({
    model, store: false, include: ['reasoning.encrypted_content'], reasoning: { effort: 'low', summary: 'auto' },
    instructions: 'Be brief.', tools: [{ type: 'function', strict: false, ...tool }], input: conversation,
  });
  const { output, status, usage } = await stream.finalResponse();
  const read = { text: '', thought: '', calls: [], signatures: 0, finished: status === 'completed', cached: usage.input_tokens_details.cached_tokens };
  for (const item of output) {
    if (item.type === 'message') {
      const { id, type, role, status: state } = item;
      const content = item.content.map(({ type: kind, text, annotations }) => ({ type: kind, text, annotations }));
      conversation.push({ id, type, role, status: state, content });
      read.text += content.map(({ text }) => text).join('');
    } else if (item.type === 'function_call') {
      const { type, call_id: id, name, arguments: json } = item;
      conversation.push({ type, call_id: id, name, arguments: json });
      read.calls.push({ id, args: JSON.parse(json) });
    } else if (item.type === 'reasoning') {
      const { type, id, summary, encrypted_content: encrypted } = item;
      conversation.push({ type, id, summary, encrypted_content: encrypted });
      read.thought += summary.map(({ text }) => text).join('');
      read.signatures += encrypted ? 1 : 0;
    }
  }
  return read;
}

/** The same. Thinking is a field of those that are compatible with OpenAI, so the SDK knows nothing of it. */
async function askChat() {
  const stream = openai.chat.completions.stream({
    model, stream_options: { include_usage: true }, tools: [{ type: 'function', function: tool }], messages: conversation,
  });
  let thought = '';
  for await (const chunk of stream) thought += chunk.choices[0]?.delta.reasoning_content ?? '';
  const { choices: [{ message, finish_reason: reason }], usage } = await stream.finalChatCompletion();
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) => ({ id, type: 'function', function: { name, arguments: json } }));
  const said = { role: 'assistant', content: message.content, reasoning_content: thought };
  conversation.push(calls.length === 0 ? said : { ...said, tool_calls: calls });
  return {
    text: message.content ?? '', thought, signatures: 0,
    calls: calls.map((call) => ({ id: call.id, args: JSON.parse(call.function.arguments) })),
    finished: reason === 'stop', cached: usage.prompt_tokens_details.cached_tokens,
  };
}
