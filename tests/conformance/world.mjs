// A machine of its own for a client that is no VS Code: a home, a project and a model. (VS Code has its own.)
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startModel } from '../../editors/vscode/test/e2e/model.mjs';

/** Resolves to `{ home, project, model, env, stop() }`. `env` is for the editor and the server that it starts. */
export async function startWorld({ files, answers }) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'azimuth-conformance-'));
  const project = path.join(home, 'project');
  fs.mkdirSync(path.join(project, '.git'), { recursive: true });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(project, name), text);
  const model = await startModel(...answers);
  const config = path.join(home, 'config.toml');
  fs.writeFileSync(config, `model = "test/model-1"\nshell_rc = false\n[providers.test]\nbase_url = "${model.url}"\nkey = "key-of-the-test"\nwire = "openai-chat"\nmodels = ["model-1"]\n`);
  const env = {
    PATH: process.env.PATH, LANG: 'C.UTF-8', TERM: 'xterm-256color', HOME: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: path.join(home, 'config'),
    XDG_DATA_HOME: path.join(home, 'data'), XDG_STATE_HOME: path.join(home, 'state'), XDG_CACHE_HOME: path.join(home, 'cache'),
    AZIMUTH_CONFIG: config, AZIMUTH_DATA_DIR: path.join(home, 'azimuth'),
  };
  const stop = async () => {
    await model.stop();
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { home, project, model, env, stop };
}
