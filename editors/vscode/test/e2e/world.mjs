// A real VS Code with the extension from its VSIX, a project, and a model that plays answers.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { installedOnce, openVsCode, startCodeServer } from '../../../../tests/tools/vscode-smoke.mjs';
import { zip } from '../../scripts/zip.mjs';
import { startModel } from './model.mjs';

/** code-server, as `install-code-server` puts it; `CODE_SERVER` names another program. */
export const codeServer = process.env.CODE_SERVER ?? path.join(os.homedir(), '.cache/azimuth-tests/code-server/bin/code-server');

/**
 * Starts all of it. `files` are the project's, by path, and `name` is its folder's; `prepare({ program, project, env })` is done before there is a
 * window, with the server's program and its environment. `extensions` are others', by name, each a manifest and CommonJS code. With `trust`, VS Code asks whether the project is trusted. Resolves to the world that the steps work on:
 * `{ page, messages, model, project, home, server, open(), stop() }`.
 */
export async function startWorld({ vsix, files, answers = [], settings = {}, key = 'key = "key-of-the-test"', models = ['model-1'], described = '', head = '', trust = false, name = 'project', extensions = {}, prepare = async () => {} }) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'azimuth-e2e-'));
  const project = path.join(home, name);
  for (const [file, text] of Object.entries(files)) {
    const place = path.join(project, file);
    fs.mkdirSync(path.dirname(place), { recursive: true });
    fs.writeFileSync(place, text);
  }
  const vsixes = Object.entries(extensions).map(([of, { manifest, code }]) => {
    const file = path.join(home, `${of}.vsix`);
    const whole = { name: of, publisher: 'test', version: '1.0.0', engines: { vscode: '^1.90.0' }, main: './main.js', ...manifest };
    fs.writeFileSync(file, zip([['package.json', JSON.stringify(whole)], ['main.js', code]].map(([entry, text]) => ({ name: `extension/${entry}`, data: Buffer.from(text) }))));
    return file;
  });
  const model = await startModel(...answers);
  const config = path.join(home, 'config.toml');
  fs.writeFileSync(config, `model = "test/model-1"\nshell_rc = false\n${head}[providers.test]\nbase_url = "${model.url}"\n${key}\nwire = "openai-chat"\nmodels = ${JSON.stringify(models)}\n${described}`);
  const env = { AZIMUTH_CONFIG: config, AZIMUTH_DATA_DIR: path.join(home, 'data'), AZIMUTH_LOG: 'debug' };
  const from = path.dirname(path.dirname(codeServer));
  let server;
  const windows = [];
  const open = async () => {
    const window = await openVsCode({ url: server.url, folder: project, from });
    await window.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    window.page.setDefaultTimeout(30_000);
    windows.push(window);
    return window;
  };
  const stop = async () => {
    for (const window of windows) await window.close().catch(() => {});
    await server?.stop();
    await model.stop();
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    server = await startCodeServer({ bin: codeServer, installed: installedOnce(codeServer, vsix), extensions: vsixes, settings, env, trust });
    const [extension] = fs.readdirSync(path.join(server.dir, 'extensions')).filter((name) => name.startsWith('azimuth.azimuth-'));
    await prepare({ program: path.join(server.dir, 'extensions', extension, 'server/azimuth'), project, env });
    const { page, console: messages } = await open();
    return { page, messages, model, project, home, server, open, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
