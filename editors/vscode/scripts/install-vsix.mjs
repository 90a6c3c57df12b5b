// Installs the VSIX that `npm run package` made: `npm run install-vsix`, with `-- FILE` for another one.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const here = path.resolve(import.meta.dirname, '..');
const { version } = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
const file = path.resolve(process.argv[2] ?? path.join(here, `azimuth-${process.platform}-${process.arch}-${version}.vsix`));
if (!fs.existsSync(file)) fail(`${file} is not there. "npm run package" makes it.`);

// On Windows `code` is a batch file, which only a shell starts.
const code = process.env.VSCODE_CLI ?? 'code';
const { status, error } = spawnSync(code, ['--install-extension', file, '--force'], { stdio: 'inherit', shell: process.platform === 'win32' });
if (error?.code === 'ENOENT') {
  fail(`there is no program "${code}" in PATH. Either run "Shell Command: Install 'code' command in PATH" in VS Code and try again, or choose "Install from VSIX…" in its Extensions view and take ${file}. VSCODE_CLI names another program, such as code-server or codium.`);
}
if (error !== undefined || status !== 0) fail(`"${code} --install-extension" failed${error === undefined ? '' : `: ${error.message}`}`);
console.log('Installed. In a window that is open, run "Developer: Reload Window".');

function fail(message) {
  console.error(`install-vsix: ${message}`);
  process.exit(1);
}
