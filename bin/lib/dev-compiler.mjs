// Compiles `src` into `dist-dev` for `npm run dev`: one file at a time, without type checks.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from './prepare.mjs';

export const SRC = path.join(ROOT, 'src');
export const OUT = path.join(ROOT, 'dist-dev');

export const print = (line) => process.stderr.write(`[dev] ${line}\n`);

/** Writes the output of each source to the same place below `dist-dev`. */
export class Compiler {
  #swc = createRequire(path.join(ROOT, 'package.json'))('@swc/core');
  #options = {
    swcrc: false,
    configFile: false,
    sourceMaps: true,
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      target: 'es2024',
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    },
    module: { type: 'es6' },
  };

  compileAll() {
    const began = Date.now();
    const names = readdirSync(SRC, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(SRC, path.join(entry.parentPath, entry.name)));
    this.#removeOrphans(new Set(names.map((name) => this.#outputOf(name))));
    const stale = names.filter((name) => this.#isStale(name));
    for (const name of stale) this.compile(name);
    print(`compiled ${stale.length} files in ${Date.now() - began} ms`);
  }

  /** @returns false when the file has a syntax error, which is printed: the running server stays. */
  compile(name) {
    const [source, output] = [path.join(SRC, name), this.#outputOf(name)];
    if (!existsSync(source)) {
      rmSync(output, { force: true });
      return true;
    }
    mkdirSync(path.dirname(output), { recursive: true });
    if (!name.endsWith('.ts')) {
      copyFileSync(source, output);
      return true;
    }
    try {
      const { code, map } = this.#swc.transformFileSync(source, { ...this.#options, filename: source });
      writeFileSync(`${output}.map`, map);
      writeFileSync(output, `${code}\n//# sourceMappingURL=${path.basename(output)}.map\n`);
      return true;
    } catch (error) {
      print(String(error.message ?? error));
      return false;
    }
  }

  #outputOf(name) {
    return path.join(OUT, name.replace(/\.ts$/, '.js'));
  }

  #isStale(name) {
    const output = statSync(this.#outputOf(name), { throwIfNoEntry: false });
    return output === undefined || output.mtimeMs < statSync(path.join(SRC, name)).mtimeMs;
  }

  #removeOrphans(outputs) {
    if (!existsSync(OUT)) return;
    for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isFile() && !outputs.has(file.replace(/\.map$/, ''))) rmSync(file);
    }
  }
}
