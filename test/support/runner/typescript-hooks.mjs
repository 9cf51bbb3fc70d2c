import { transformSync } from '@swc/core';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const SRC = pathToFileURL(path.join(ROOT, 'src')).href;
const DIST = pathToFileURL(path.join(ROOT, 'dist')).href;
const GLOBALS = new URL('jest-globals.mjs', import.meta.url).href;

const OPTIONS = {
  configFile: false,
  swcrc: false,
  sourceMaps: true,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    target: 'es2024',
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
  module: { type: 'es6' },
};

/** Source map files by module URL, for stack traces. */
export const sourceMaps = new Map();

let registered = false;

/**
 * Lets this process import test files: TypeScript is transformed, `src` becomes the built `dist`, and `@jest/globals` is ours.
 * @param {string} cacheDirectory where source maps are written
 */
export function registerTypeScript(cacheDirectory) {
  if (registered) return;
  registered = true;
  const directory = path.join(cacheDirectory, 'source-maps');
  mkdirSync(directory, { recursive: true });
  registerHooks({ resolve, load: (url, context, next) => load(url, context, next, directory) });
}

function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
  if (!specifier.startsWith('.') || !isTypeScript(context.parentURL)) return next(specifier, context);
  const url = new URL(specifier, context.parentURL).href;
  if (url.startsWith(`${SRC}/`)) return next(`${DIST}${url.slice(SRC.length)}`, context);
  return next(specifier, context);
}

function load(url, context, next, directory) {
  if (!isTypeScript(url)) return next(url, context);
  const file = fileURLToPath(url);
  const { code, map } = transformSync(readFileSync(file, 'utf8'), { ...OPTIONS, filename: file });
  sourceMaps.set(url, writeMap(map, directory));
  return { format: 'module', source: code, shortCircuit: true };
}

/** With or without the query that `runner.mjs` adds. */
function isTypeScript(url) {
  return url !== undefined && /^file:[^?#]*\.ts(?:\?|$)/.test(url);
}

/** Jest reads maps from files. Several workers write the same ones. */
function writeMap(map, directory) {
  const file = path.join(directory, `${createHash('sha256').update(map).digest('hex')}.map`);
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, map);
  renameSync(unfinished, file);
  return file;
}
