// The common beginning and end of stories.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';

/** Reads a story's arguments: `--vsix FILE [--shots FOLDER]`. The folder of its pictures is made. */
export function called(story) {
  const { values } = parseArgs({ options: { vsix: { type: 'string' }, shots: { type: 'string' } } });
  const shots = path.resolve(values.shots ?? path.join(import.meta.dirname, `../../../../tests/artifacts/vscode-${story}`));
  fs.mkdirSync(shots, { recursive: true });
  return { vsix: path.resolve(values.vsix), shots };
}

/** Says what was shown. */
export const told = (what) => console.log(`ok: ${what}`);

/** Tells a story in a world, which ends with it. Where it fails there is a picture of how. */
export async function tell(world, shots, story) {
  try {
    await story();
  } catch (error) {
    await world.page.screenshot({ path: path.join(shots, 'failure.png') }).catch(() => {});
    throw error;
  } finally {
    await world.stop();
  }
  console.log(`screenshots: ${shots}`);
}

/** Questions about the files of a world, as the server puts them; `ask` is of `asker.mjs`. */
export function questions({ project }, ask) {
  const uri = (file) => pathToFileURL(path.join(project, file)).toString();
  const query = (type, more = {}, timeoutMs = 20_000) => ask('azimuth/editor/query', { query: { type, ...more }, timeoutMs });
  return { uri, query };
}
