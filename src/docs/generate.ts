import { writeFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import 'reflect-metadata';
import { AppModule } from '../app.module.js';
import { API_PREFIX, Config } from '../config/config.js';
import { documentsOf } from './openapi-document.js';

/** Builds both documents from the code. Modules are wired but not started, so it needs no database. */
export async function describeApp(): Promise<ReturnType<typeof documentsOf>> {
  const app = await NestFactory.create(AppModule.forRoot(Config.parse({}), 'postgresql://unused'), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  app.setGlobalPrefix(API_PREFIX);
  return documentsOf(app);
}

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
