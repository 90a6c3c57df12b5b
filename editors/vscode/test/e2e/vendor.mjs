// A vendor whose users sign in, on the loopback: its page lets everybody in, by a browser or by a code.
import crypto from 'node:crypto';
import http from 'node:http';

/** The code that the user types. */
export const USER_CODE = 'ABCD-EFGH';

/** The key that is refused. */
export const WRONG_KEY = 'revoked-that-nobody-may-see';

/** Starts it; resolves to `{ configuration, shown, approve(), stop() }`: the provider `gateway` for `config.toml`, the pages that were shown, and to let the code in. */
export async function startVendor() {
  const [codes, shown, faults] = [new Map(), [], []];
  let approved = false;
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url, 'http://vendor');
    const form = new URLSearchParams(body);
    const json = (status, value) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const token = () => json(200, { access_token: 'token-that-nobody-may-see', token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-that-nobody-may-see' });
    switch (url.pathname) {
      case '/authorize': {
        shown.push(url.pathname);
        const code = crypto.randomUUID();
        codes.set(code, url.searchParams.get('code_challenge'));
        const back = new URL(url.searchParams.get('redirect_uri'));
        back.search = new URLSearchParams({ code, state: url.searchParams.get('state') }).toString();
        return response.writeHead(302, { location: back.toString() }).end();
      }
      case '/page':
        shown.push(url.pathname);
        return response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Enter your code</p>');
      case '/device':
        return json(200, { device_code: 'device', user_code: USER_CODE, verification_uri: `http://127.0.0.1:${server.address().port}/page`, interval: 1, expires_in: 600 });
      case '/token':
        if (form.get('grant_type') === 'authorization_code') {
          const fits = codes.get(form.get('code')) === crypto.createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
          if (!fits) faults.push('the verifier does not fit');
          return fits ? token() : json(400, { error: 'invalid_grant' });
        }
        return approved ? token() : json(400, { error: 'authorization_pending' });
      case '/revoke':
        return json(200, {});
      case '/v1/models':
        if (request.headers.authorization === `Bearer ${WRONG_KEY}`) return json(401, { error: { message: 'This key was revoked.' } });
        return json(200, { data: [{ id: 'gate-1' }] });
      default:
        return json(404, {});
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const configuration = [
    '[providers.gateway]', `base_url = "${url}/v1"`, 'wire = "openai-chat"', '[providers.gateway.sign_in]', `authorize_url = "${url}/authorize"`,
    `token_url = "${url}/token"`, `device_url = "${url}/device"`, `revoke_url = "${url}/revoke"`, 'client_id = "azimuth"', '',
  ].join('\n');
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { configuration, shown, faults, approve: () => (approved = true), stop };
}
