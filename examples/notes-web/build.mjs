// The files of the page as the service sends them: one script with its packages, a service worker, the style sheet and the HTML.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const SETTINGS = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  platform: 'browser',
  target: 'es2022',
  // Readable, so that changes of the committed file can be reviewed and merged. The service compresses it.
  minify: false,
  legalComments: 'none',
  metafile: true,
};

/**
 * Bundles the page with the built client library.
 * @returns {Promise<Record<string, string>>} the texts of the files in `public`, by their names
 */
export async function bundleExample() {
  const read = (name) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
  const [page, worker] = await Promise.all([
    build({ ...SETTINGS, entryPoints: ['examples/notes-web/src/main.ts'], format: 'esm' }),
    build({ ...SETTINGS, entryPoints: ['examples/notes-web/src/worker.ts'], format: 'iife' }),
  ]);
  return {
    'notes-web.js': `// Made by \`npm run example\` from examples/notes-web and sdk.\n${page.outputFiles[0].text}${licencesOf(page.metafile)}`,
    'notes-web-worker.js': `// Made by \`npm run example\` from examples/notes-web.\n${worker.outputFiles[0].text}`,
    'notes-web.css': read('style.css'),
    'notes-web.html': read('index.html'),
  };
}

/** The licences of the packages in a bundle, which copies of them must contain. */
function licencesOf({ inputs }) {
  const names = new Set(
    Object.keys(inputs).flatMap(
      (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1] ?? [],
    ),
  );
  return [...names].toSorted().map(licenceOf).join('');
}

function licenceOf(name) {
  const directory = path.join(ROOT, 'node_modules', name);
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const { license } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'));
  const text =
    file && existsSync(path.join(directory, file)) ? readFileSync(path.join(directory, file), 'utf8') : '';
  const lines = `${name} (${license})\n\n${text.trim()}`.replaceAll('*/', '* /').split('\n');
  return `\n/*\n${lines.map((line) => ` * ${line.trimEnd()}`.trimEnd()).join('\n')}\n */\n`;
}
