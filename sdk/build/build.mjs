// Builds the client library: types from the documents of the interface, JavaScript and declarations into `dist`, and the sizes
// of its parts in a browser bundle, with their limits.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { apiTypes, keyedOperations } from './api-types.mjs';
import { eventTypes } from './event-types.mjs';
import { measure } from './measure.mjs';

const SDK = path.resolve(import.meta.dirname, '..');
const GENERATED = path.join(SDK, 'src', 'generated');

const read = (name) => JSON.parse(readFileSync(path.join(SDK, '..', name), 'utf8'));
const openapi = read('openapi.json');
const asyncapi = read('asyncapi.json');

mkdirSync(GENERATED, { recursive: true });
writeFileSync(path.join(GENERATED, 'api.ts'), await apiTypes(openapi));
writeFileSync(path.join(GENERATED, 'keyed-operations.ts'), keyedOperations(openapi));
writeFileSync(path.join(GENERATED, 'events.ts'), await eventTypes(asyncapi));
compile();
process.stdout.write(`${await measure(path.join(SDK, 'dist'))}\n`);

function compile() {
  rmSync(path.join(SDK, 'dist'), { recursive: true, force: true });
  const compiler = path.join(SDK, '..', 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', SDK], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The client library does not compile:\n${stdout}`);
}
