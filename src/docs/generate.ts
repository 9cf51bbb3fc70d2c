import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { describeApp } from './describe-app.js';

/** `npm run openapi`: writes the committed description anew. */
const file = new URL('../../openapi.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(await describeApp(), null, 2)}\n`);
process.stdout.write('openapi.json written\n');
