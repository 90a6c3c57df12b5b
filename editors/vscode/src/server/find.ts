// Which server to start.

import path from 'node:path';

/** Where a server may be. */
export interface Places {
  /** The setting `azimuth.server.path`; empty if it is not set. */
  setting: string;
  /** The folder of the extension, which may bring a server along. */
  extension: string;
  /** The environment's PATH. */
  path: string;
  platform: NodeJS.Platform;
  /** True for a file that can be run. */
  runs: (file: string) => boolean;
}

/** A server, and where it was found, in words. */
export interface Found {
  file: string;
  source: 'setting' | 'bundled' | 'PATH';
}

/** The server to start: the setting's, else the bundled one, else the first in PATH. Else why there is none. */
export function findServer(places: Places): Found | { problem: string } {
  const { setting, extension, platform, runs } = places;
  const program = platform === 'win32' ? 'azimuth.exe' : 'azimuth';
  if (setting !== '') {
    if (!path.isAbsolute(setting)) {
      return { problem: `The setting azimuth.server.path is "${setting}", which is not an absolute path. Set it to the absolute path of the program, or clear it.` };
    }
    if (runs(setting)) return { file: setting, source: 'setting' };
    return { problem: `The setting azimuth.server.path names ${setting}, which is not a program that can be run. Correct the setting, or clear it to use the server that comes with the extension.` };
  }
  const bundled = path.join(extension, 'server', program);
  if (runs(bundled)) return { file: bundled, source: 'bundled' };
  const separator = platform === 'win32' ? ';' : ':';
  for (const folder of places.path.split(separator)) {
    // A relative folder in PATH would let a project bring its own server along.
    const file = path.join(folder, program);
    if (path.isAbsolute(folder) && runs(file)) return { file, source: 'PATH' };
  }
  return { problem: 'The program azimuth was found neither in the extension nor in PATH. Install the extension for your platform, or set azimuth.server.path to the program.' };
}

/** Why this server does not fit this extension and what to do; nothing where it fits. */
export function misfit(server: { name: string; version?: string } | undefined, extension: string, found: Found): string | undefined {
  if (server?.name !== 'azimuth') {
    return `${found.file} is not Azimuth's server${server === undefined ? '' : ` but calls itself ${server.name}`}. ${remedy(found)}`;
  }
  if (server.version !== undefined && series(server.version) === series(extension)) return undefined;
  return `The server ${found.file} has the version ${server.version ?? 'unknown'}, and this extension needs ${series(extension)}.x. ${remedy(found)}`;
}

function remedy(found: Found): string {
  switch (found.source) {
    case 'setting': return 'Update it, or clear the setting azimuth.server.path to use the server that comes with the extension.';
    case 'bundled': return 'Install the extension again.';
    case 'PATH': return 'Update it, or set azimuth.server.path to another one.';
  }
}

/** The part that must match: with `0.x` the second number stands for incompatible changes, later the first does. */
function series(version: string): string {
  const [major = '', minor = ''] = version.split('.');
  return major === '0' ? `${major}.${minor}` : major;
}
