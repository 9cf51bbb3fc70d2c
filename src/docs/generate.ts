import { writeFileSync } from 'node:fs';
import { describeApp } from './describe-app.js';

/** Maximum length of a value on one line. Longer lines make the file a third smaller and its diffs shorter. */
const LINE = 160;

/** `npm run openapi`: writes the committed documents. */
const { openApi, asyncApi } = await describeApp();
write('openapi.json', openApi);
write('asyncapi.json', asyncApi);

function write(name: string, document: unknown): void {
  writeFileSync(new URL(`../../${name}`, import.meta.url), `${print(document)}\n`);
  process.stdout.write(`${name} written\n`);
}

/** JSON indented by one space, broken only where a line would be longer than `LINE`. */
function print(value: unknown, indent = ''): string {
  const text = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + text.length <= LINE) return text;
  const inner = `${indent} `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const lines = Array.isArray(value)
    ? value.map((entry) => `${inner}${print(entry, inner)}`)
    : Object.entries(value).map(([key, entry]) => `${inner}${JSON.stringify(key)}: ${print(entry, inner)}`);
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
