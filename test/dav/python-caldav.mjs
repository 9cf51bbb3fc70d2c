import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = path.join(path.dirname(fileURLToPath(import.meta.url)), 'python-caldav.py');

/** The library python3-caldav: calendars, events, searches and synchronisation. */
export async function pythonCaldav(directory, api) {
  const env = {
    ...process.env,
    DAV_URL: `${api.origin}/apis/v1/dav/`,
    DAV_USER: api.email,
    DAV_PASSWORD: api.password,
  };
  execFileSync('/usr/bin/python3', [SCRIPT], { env, cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
}
