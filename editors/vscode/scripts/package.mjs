// Makes the VSIX: the bundled extension with the server inside, for one platform.
//
//   npm run package                       builds the server with cargo
//   npm run package -- --server PATH      takes this server
//   npm run package -- --target linux-x64 --out FILE
//
// A VSIX is a zip file with two more files that say what is in it. To make that takes less than the usual tool brings.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { zip } from './zip.mjs';

const here = path.resolve(import.meta.dirname, '..');
const root = path.resolve(here, '../..');
const manifest = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
const targets = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];

const { values } = parseArgs({ options: { server: { type: 'string' }, target: { type: 'string' }, out: { type: 'string' } } });
const own = `${process.platform}-${process.arch}`;
const target = values.target ?? own;
if (!targets.includes(target)) fail(`--target ${target} is none of ${targets.join(', ')}`);
if (target !== own && values.server === undefined) fail(`a server for ${target} is not built on ${own}: build it there, and name it with --server`);
const program = target.startsWith('win32') ? 'azimuth.exe' : 'azimuth';
const out = path.resolve(values.out ?? path.join(here, `azimuth-${target}-${manifest.version}.vsix`));

run(process.execPath, ['esbuild.mjs'], here);
const server = values.server === undefined ? buildServer() : path.resolve(values.server);
if (!fs.existsSync(server)) fail(`${server} is not there`);

const files = ['package.json', 'README.md', ...walk('dist'), ...walk('media')]
  .filter((name) => !name.endsWith('.map'))
  .map((name) => ({ name: `extension/${name}`, data: fs.readFileSync(path.join(here, name)) }));
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) files.push({ name: `extension/${name}`, data: fs.readFileSync(path.join(root, name)) });
files.push({ name: `extension/server/${program}`, data: fs.readFileSync(server), mode: 0o755 });

const data = zip([
  { name: 'extension.vsixmanifest', data: Buffer.from(vsixManifest()) },
  { name: '[Content_Types].xml', data: Buffer.from(contentTypes(files)) },
  ...files,
]);
fs.mkdirSync(path.dirname(out), { recursive: true });
fs.writeFileSync(out, data);
console.log(`${out}: ${(data.length / 1e6).toFixed(1)} MB, for ${target}`);

function buildServer() {
  run('cargo', ['build', '--profile', 'dist', '--locked', '--package', 'azimuth', '--bin', 'azimuth'], root);
  const folder = process.env.CARGO_TARGET_DIR ?? path.join(root, 'target');
  return path.join(folder, 'dist', program);
}

function walk(folder) {
  return fs.readdirSync(path.join(here, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(here, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .sort();
}

function vsixManifest() {
  const { name, publisher, version, displayName, description, engines, categories, keywords, extensionKind } = manifest;
  const property = (id, value) => `      <Property Id="Microsoft.VisualStudio.Code.${id}" Value="${escape(value)}"/>`;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}" TargetPlatform="${target}"/>
    <DisplayName>${escape(displayName)}</DisplayName>
    <Description xml:space="preserve">${escape(description)}</Description>
    <Tags>${escape(keywords.join(','))}</Tags>
    <Categories>${escape(categories.join(','))}</Categories>
    <Properties>
${[property('Engine', engines.vscode), property('ExtensionKind', extensionKind.join(',')), property('ExtensionDependencies', ''), property('ExtensionPack', '')].join('\n')}
    </Properties>
    <License>extension/LICENSE-MIT</License>
    <Icon>extension/${manifest.icon}</Icon>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE-MIT" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/${manifest.icon}" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

/** The kinds of files by their endings; the server and the licences have none, and are named. */
function contentTypes(entries) {
  const types = { '.json': 'application/json', '.vsixmanifest': 'text/xml', '.md': 'text/markdown', '.svg': 'image/svg+xml', '.png': 'image/png', '.css': 'text/css', '.txt': 'text/plain', '.cjs': 'application/javascript', '.js': 'application/javascript' };
  const endings = new Set(['.vsixmanifest', ...entries.map(({ name }) => path.posix.extname(name)).filter((ending) => ending !== '')]);
  const plain = entries.filter(({ name }) => path.posix.extname(name) === '');
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${[...endings].map((ending) => `<Default Extension="${ending}" ContentType="${types[ending] ?? 'application/octet-stream'}"/>`).join('')}${plain.map(({ name }) => `<Override PartName="/${name}" ContentType="application/octet-stream"/>`).join('')}</Types>
`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error !== undefined || status !== 0) fail(`${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
}

function fail(message) {
  console.error(`package: ${message}`);
  process.exit(1);
}
