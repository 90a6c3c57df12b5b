// A model that plays a list of answers, over Chat Completions on the loopback: what a test needs of a provider.
import http from 'node:http';

/**
 * Starts it; resolves to `{ url, asked, keys, strays, add(...answers), stop() }`: the requests to the model, the keys that
 * came with them, and the addresses of any other request. An answer is `{ thinking?, text?, calls?, delayMs?, forever?, until?, again?, headers? }`:
 * its text comes in words, `delayMs` apart, and `forever` goes on saying it until the client leaves. What follows the text waits for `until`.
 * With `again` it is given for each request of which that is true, which may be none.
 * One with a `status` is refused with that and its `headers`.
 * A call is `{ tool, input, pieces? }`: its input comes as one, or piece by piece as the generator `pieces` cuts it, which may wait in between.
 */
export async function startModel(...answers) {
  const queue = [...answers];
  const [asked, keys, strays] = [[], [], []];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (!request.url.endsWith('/chat/completions')) {
      strays.push(request.url);
      return response.writeHead(404).end();
    }
    asked.push(JSON.parse(body));
    keys.push(request.headers.authorization);
    while (queue[0]?.again?.(asked.at(-1)) === false) queue.shift();
    const answer = queue[0]?.again === undefined ? queue.shift() : queue[0];
    if (answer === undefined) {
      return response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'the test has no answer left' } }));
    }
    if (answer.status !== undefined) {
      const error = JSON.stringify({ error: { message: answer.text } });
      return response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(error);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers });
    await play(answer, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}/v1`, asked, keys, strays, add: (...more) => queue.push(...more), stop };
}

async function play({ thinking = '', text = '', calls = [], delayMs = 0, forever = false, until }, response) {
  const send = (delta, more = {}) => response.write(`data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] })}\n\n`);
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  if (thinking !== '') send({ reasoning_content: thinking });
  do {
    for (const word of words) {
      send({ content: word });
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (response.closed || response.destroyed) return;
    }
  } while (forever);
  await until;
  for (const [index, { tool, input, pieces = whole }] of calls.entries()) {
    const id = `call-${Math.random().toString(36).slice(2)}`;
    send({ tool_calls: [{ index, id, type: 'function', function: { name: tool, arguments: '' } }] });
    for await (const piece of pieces(JSON.stringify(input))) {
      if (response.closed || response.destroyed) return;
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  send({}, { finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' });
  response.write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 50 } })}\n\n`);
  response.end('data: [DONE]\n\n');
}

function* whole(text) {
  yield text;
}
