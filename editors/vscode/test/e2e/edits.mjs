// A model that suggests next edits, over the wire of Inception on the loopback: what a test needs of one.
import fs from 'node:fs';
import http from 'node:http';

/**
 * Starts it; resolves to `{ asked, answer, configure(env), stop() }`. `asked` are the requests: each the `path` of the file and the `window` that may
 * change. `answer(window, path)` gives the window's new text, or undefined if nothing is to change, and can be replaced. `configure` names it in the
 * configuration of a server's environment.
 */
export async function startEdits(answer) {
  const edits = { asked: [], answer };
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url !== '/v1/edit/completions') return response.writeHead(404).end();
    const [{ content }] = JSON.parse(body).messages;
    const [, window] = /<\|code_to_edit\|>\n(.*)<\|\/code_to_edit\|>/s.exec(content.replace('<|cursor|>', ''));
    const [, file] = /current_file_path: (.*)\n/.exec(content);
    edits.asked.push({ path: file, window });
    const text = edits.answer(window, file);
    const said = text === undefined ? 'None' : `\`\`\`\n${text}\`\`\``;
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }], usage: { prompt_tokens: 100, completion_tokens: 50 } }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const configure = ({ AZIMUTH_CONFIG: file }) => {
    const rest = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, `next_edit_model = "inception/mercury-coder"\n${rest}\n[providers.inception]\nbase_url = "http://127.0.0.1:${server.address().port}/v1"\nkey = "key-of-the-test"\n`);
  };
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return Object.assign(edits, { configure, stop });
}
