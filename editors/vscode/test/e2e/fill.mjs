// A model that fills in text, over the wire of llama.cpp's server on the loopback: what a test needs of one.
import fs from 'node:fs';
import http from 'node:http';

/**
 * Starts it; resolves to `{ asked, answer, fails, configure(env), stop() }`. `asked` are the requests to fill in; `answer(before, after)` gives the
 * text between both and can be replaced, `fails` lets it refuse. `configure` names it in the configuration of a server's environment.
 */
export async function startFill(answer) {
  const fill = { asked: [], answer, fails: false };
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url !== '/infill') return response.writeHead(404).end();
    const { input_prefix: before, input_suffix: after } = JSON.parse(body);
    fill.asked.push({ before, after });
    if (fill.fails) return response.writeHead(500).end('the test refuses');
    const text = fill.answer(before, after);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (piece) => response.write(`data: ${JSON.stringify(piece)}\n\n`);
    for (const content of text.match(/\S+\s*|\s+/g) ?? []) send({ index: 0, content, stop: false });
    send({ index: 0, content: '', stop: true, stop_type: 'eos', truncated: false, tokens_evaluated: 10, tokens_predicted: 5 });
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const configure = ({ AZIMUTH_CONFIG: file }) => {
    const rest = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, `completion_model = "llama.cpp/coder"\n${rest}\n[providers."llama.cpp"]\nbase_url = "http://127.0.0.1:${server.address().port}"\n`);
  };
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return Object.assign(fill, { configure, stop });
}
