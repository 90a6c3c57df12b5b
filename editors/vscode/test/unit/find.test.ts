import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findServer, misfit, type Places } from '../../src/server/find';

const places = (there: string[], more: Partial<Places> = {}): Places => ({
  setting: '', extension: '/ext', path: '/usr/bin:/home/u/bin', platform: 'linux', runs: (file) => there.includes(file), ...more,
});

test('the setting counts before the bundled server, and that before PATH', () => {
  const all = ['/set/azimuth', '/ext/server/azimuth', '/home/u/bin/azimuth'];
  assert.deepEqual(findServer(places(all, { setting: '/set/azimuth' })), { file: '/set/azimuth', source: 'setting' });
  assert.deepEqual(findServer(places(all)), { file: '/ext/server/azimuth', source: 'bundled' });
  assert.deepEqual(findServer(places(all.slice(2))), { file: '/home/u/bin/azimuth', source: 'PATH' });
});

test('a setting that names nothing is an error and not passed over', () => {
  const found = findServer(places(['/ext/server/azimuth'], { setting: '/gone' }));
  assert.ok('problem' in found && found.problem.includes('/gone'));
  const relative = findServer(places(['azimuth'], { setting: 'azimuth' }));
  assert.ok('problem' in relative && relative.problem.includes('absolute'));
});

test('a relative folder in PATH is passed over', () => {
  assert.ok('problem' in findServer(places(['azimuth', 'bin/azimuth'], { path: '.:bin:' })));
});

test('only the same series fits', () => {
  const found = { file: '/a', source: 'PATH' as const };
  const fits = (server: string, extension: string): boolean => misfit({ name: 'azimuth', version: server }, extension, found) === undefined;
  assert.ok(fits('0.1.4', '0.1.0'));
  assert.ok(!fits('0.2.0', '0.1.0'));
  assert.ok(fits('1.4.0', '1.0.3'));
  assert.ok(!fits('2.0.0', '1.9.0'));
  assert.match(misfit({ name: 'azimuth', version: '0.2.0' }, '0.1.0', found) ?? '', /0\.2\.0.*0\.1\.x.*azimuth\.server\.path/);
  assert.match(misfit({ name: 'other', version: '0.1.0' }, '0.1.0', found) ?? '', /calls itself other/);
  assert.match(misfit(undefined, '0.1.0', found) ?? '', /not Azimuth's server/);
});
