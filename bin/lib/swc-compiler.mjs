// Compiles `src` by swc: one file at a time, without type checks, and without what the plugin of nest-cli.json adds for openapi.json.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Writes the output of each source to the same place below `out`. */
export class SwcCompiler {
  #src;
  #out;
  #print;
  #swc;
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

  /**
   * @param root the directory of the clone
   * @param out the directory of the output
   * @param print writes a line for the developer
   */
  constructor(root, out, print) {
    this.#src = path.join(root, 'src');
    this.#out = out;
    this.#print = print;
    this.#swc = createRequire(path.join(root, 'package.json'))('@swc/core');
  }

  /** Compiles what has changed. @returns false when a file has a syntax error, which is printed */
  compileAll() {
    const began = Date.now();
    const names = readdirSync(this.#src, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(this.#src, path.join(entry.parentPath, entry.name)));
    this.#removeOrphans(new Set(names.map((name) => this.#outputOf(name))));
    const stale = names.filter((name) => this.#isStale(name));
    const failed = stale.filter((name) => !this.compile(name));
    this.#print(`compiled ${stale.length} files in ${Date.now() - began} ms`);
    return failed.length === 0;
  }

  /** @returns false when the file has a syntax error, which is printed: the running server stays. */
  compile(name) {
    const [source, output] = [path.join(this.#src, name), this.#outputOf(name)];
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
      this.#print(String(error.message ?? error));
      return false;
    }
  }

  #outputOf(name) {
    return path.join(this.#out, name.replace(/\.ts$/, '.js'));
  }

  #isStale(name) {
    const output = statSync(this.#outputOf(name), { throwIfNoEntry: false });
    return output === undefined || output.mtimeMs < statSync(path.join(this.#src, name)).mtimeMs;
  }

  #removeOrphans(outputs) {
    if (!existsSync(this.#out)) return;
    for (const entry of readdirSync(this.#out, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isFile() && !outputs.has(file.replace(/\.map$/, ''))) rmSync(file);
    }
  }
}
