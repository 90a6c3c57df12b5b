// Bundles the extension and the chat: `node esbuild.mjs`, with `--watch` while working.
// With `--tests` it bundles the unit tests into `out/test` instead, for `node --test`.
import { rmSync } from 'node:fs';
import esbuild from 'esbuild';

const common = { bundle: true, sourcemap: 'linked', logLevel: 'warning', legalComments: 'linked' };

/** The extension host runs it. */
const host = {
  ...common,
  entryPoints: { extension: 'src/extension.ts' },
  outdir: 'dist',
  platform: 'node',
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  target: 'node20',
  external: ['vscode'],
  minify: true,
};

/** The chat's webview loads it: one script and one style sheet. */
const webview = {
  ...common,
  entryPoints: { chat: 'src/webview/main.ts' },
  outdir: 'dist',
  platform: 'browser',
  format: 'iife',
  target: 'es2023',
  loader: { '.ttf': 'file' },
  minify: true,
};

const tests = {
  ...common,
  entryPoints: ['test/unit/**/*.test.ts'],
  outdir: 'out/test',
  outbase: '.',
  platform: 'node',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  target: 'node20',
  external: ['vscode'],
};

if (process.argv.includes('--tests')) {
  rmSync('out/test', { recursive: true, force: true });
  await esbuild.build(tests);
} else if (process.argv.includes('--watch')) {
  for (const options of [host, webview]) await (await esbuild.context({ ...options, minify: false })).watch();
} else {
  rmSync('dist', { recursive: true, force: true });
  await Promise.all([esbuild.build(host), esbuild.build(webview)]);
}
