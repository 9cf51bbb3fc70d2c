// The files of the output that processes run. A build makes them; the names of their modules differ, because compilers write one
// file for each source and would replace them.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The module of each program. Both are paths in the output. */
export const PROGRAMS = {
  'main.js': 'server.js',
  'mail-service/main.js': 'mail-service/service-process.js',
  'cli/main.js': 'cli/workspace.js',
};
/** In the output: the bundles of the programs. */
export const BUNDLE = 'bundle';

/**
 * Writes the programs.
 * @param out the directory of the output
 * @param fileOf the file, in the output, that a program runs for its module. Default: the module itself, as for development
 */
export function writePrograms(out, fileOf = (module) => module) {
  for (const [program, module] of Object.entries(PROGRAMS)) {
    const file = path.join(out, program);
    const name = path.relative(path.dirname(program), fileOf(module)).replaceAll(path.sep, '/');
    mkdirSync(path.dirname(file), { recursive: true });
    // Decorators use `Reflect.getMetadata` while modules are loaded, in the order of the bundle.
    writeFileSync(
      file,
      `import 'reflect-metadata';\nimport '${name.startsWith('.') ? name : `./${name}`}';\n`,
    );
  }
}
