// `bundle.mjs <directory of the output>`: bundles the programs from the compiled modules in this directory, with the packages that they
// import, and writes the programs. A process then reads 250 files in place of 4,000 (adr/0080).
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { divideMap } from './bundle-maps.mjs';
import { BUNDLE, PROGRAMS, writePrograms } from './programs.mjs';

const out = path.resolve(process.argv[2]);
const directory = path.join(out, BUNDLE);
/** In this directory: the names of the files of the last bundle. */
const FILES = 'files.json';

/** What a server loads at its start, beside the modules of the programs. */
const LOADED_AT_START = ['app.prepare.js', 'app.setup.js'];

/**
 * Packages that stay outside: those with native code; Swagger UI, whose files are served from its package; `reflect-metadata`, which the
 * programs load before the bundle; and those that few processes load, and not at their start. So do packages that are not installed.
 */
const EXTERNAL =
  /^(?:sharp|@node-rs\/argon2|swagger-ui-dist|reflect-metadata|@aws-sdk\/.*|@simplewebauthn\/server|livekit-server-sdk|@opentelemetry\/(?!api$).*|qrcode|undici)(?:\/|$)/;

/** This module says that operations are not described. */
const UNDESCRIBED = path.join(out, 'platform', 'http', 'describes-operations.js');

/** What a module asks about its own place. */
const PLACE = /\bimport\.meta\.url\b|\b__dirname\b|\b__filename\b/;
/** Files of packages that do so where the service does not come to, or only to load packages that stay outside. */
const HARMLESS = new Set([
  '@nestjs/common/utils/load-package.util.js',
  '@nestjs/swagger/dist/swagger-ui/swagger-ui.js',
  'pino/lib/transport.js',
  'socket.io/dist/index.js',
  'thread-stream/index.js',
]);
/** This file requires packages of the bundle. By the `require` of Node it would load second copies, whose state differs. */
const REQUIRING = '@nestjs/mapped-types/dist/type-helpers.utils.js';
const OWN_REQUIRE = 'const require = createRequire(import.meta.url);';

const MODULES = `${path.sep}node_modules${path.sep}`;
const isOurs = (id) => id.startsWith(`${out}${path.sep}`);
const isOfPackage = (id) => id.includes(MODULES);
/** The path of a file of a package, from the name of the package. */
const nameInPackages = (id) => id.split(MODULES).at(-1).split(path.sep).join('/');

/** Modules of ours keep their places, so that they find SQL files and the scripts of worker threads: all bundles are in one directory. */
function withOwnPlace(code, id) {
  const place = `new URL(${JSON.stringify(`../${path.relative(out, id).split(path.sep).join('/')}`)}, import.meta.url).href`;
  return code.replaceAll(/\bimport\.meta\.url\b/g, place);
}

function replacePlace(code, id) {
  if (isOurs(id)) return { code: withOwnPlace(code, id), map: null };
  // The bundler adds a module of its own.
  if (!isOfPackage(id)) return null;
  const name = nameInPackages(id);
  if (name === REQUIRING && code.includes(OWN_REQUIRE))
    return { code: code.replace(OWN_REQUIRE, ''), map: null };
  if (HARMLESS.has(name)) return null;
  throw new Error(`${name} depends on its place: see HARMLESS and EXTERNAL in bin/lib/bundle.mjs`);
}

/** A module of ours with the map of the compiler, so that positions are those of the sources. */
function loadOurs(id) {
  if (id === UNDESCRIBED) return 'export const DESCRIBES_OPERATIONS = false;';
  const map = `${id}.map`;
  return {
    code: readFileSync(id, 'utf8'),
    map: existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')) : null,
  };
}

/**
 * A chunk for each package, each module of the application and each layer below. V8 takes tens of megabytes to parse a chunk of 5 MB, and
 * the process keeps them. Neither packages nor these folders import each other in circles, so that modules run in their order.
 */
function chunkOf(id) {
  if (isOfPackage(id))
    return nameInPackages(id)
      .match(/^(?:@[^/]+\/)?[^/]+/)[0]
      .replaceAll(/[@/]/g, '_');
  if (!isOurs(id)) return null;
  const [layer, module, ...rest] = path.relative(out, id).split(path.sep);
  if (module === undefined) return null;
  return layer === 'modules' && rest.length > 0 ? `own_${module}` : `own_${layer}`;
}

async function bundle() {
  const input = [...Object.values(PROGRAMS), ...LOADED_AT_START];
  const build = await rolldown({
    input: input.map((module) => path.join(out, module)),
    cwd: out,
    platform: 'node',
    external: EXTERNAL,
    preserveEntrySignatures: 'allow-extension',
    logLevel: 'silent',
    plugins: [
      {
        name: 'ours',
        load: {
          filter: { id: { exclude: /node_modules/ } },
          handler: (id) => (isOurs(id) ? loadOurs(id) : null),
        },
      },
      { name: 'places', transform: { filter: { code: PLACE }, handler: replacePlace } },
    ],
  });
  return build.generate({
    format: 'esm',
    keepNames: true,
    // V8 keeps a text with a character beyond Latin-1 in twice the memory.
    charset: 'ascii',
    // With its white space: Node prints the line of an uncaught error.
    minify: false,
    comments: false,
    sourcemap: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkOf, tags: ['$initial'], entriesAware: true }],
    },
  });
}

/** Writes the files. Keeps those of the bundle before, from which processes may still load chunks. */
function write(files) {
  mkdirSync(directory, { recursive: true });
  const list = path.join(directory, FILES);
  const former = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  const known = new Set([FILES, ...former, ...Object.keys(files)]);
  for (const name of readdirSync(directory)) if (!known.has(name)) rmSync(path.join(directory, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
  writeFileSync(list, JSON.stringify(Object.keys(files)));
}

// On a machine for which rolldown has no binary, the programs run the modules.
const { rolldown } = await import('rolldown').catch(() => ({}));
if (!rolldown) {
  writePrograms(out);
  process.exit();
}
const { output } = await bundle();
const files = {};
/** The bundle of each module that is a program, by its path in the output. */
const bundles = {};
for (const { type, fileName, code, source, facadeModuleId } of output) {
  files[fileName] = type === 'chunk' ? code : divideMap(source);
  if (facadeModuleId)
    bundles[path.relative(out, facadeModuleId).split(path.sep).join('/')] = `${BUNDLE}/${fileName}`;
}
write(files);
writePrograms(out, (module) => bundles[module]);
