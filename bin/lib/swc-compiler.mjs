// Compiles `src` by swc: one file at a time, without type checks, and without what the plugin of nest-cli.json adds for openapi.json.
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
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
   * @throws Error when swc has no binary for this machine
   */
  constructor(root, out, print) {
    this.#src = path.join(root, 'src');
    this.#out = out;
    this.#print = print;
    this.#swc = createRequire(path.join(root, 'package.json'))('@swc/core');
  }

  /** Compiles these sources. @returns false when one has a syntax error, which is printed */
  compileAll(names) {
    const began = Date.now();
    const failed = names.filter((name) => !this.compile(name));
    this.#print(`compiled ${names.length} files in ${Date.now() - began} ms`);
    return failed.length === 0;
  }

  /** @returns false when the file has a syntax error, which is printed: the running server stays. */
  compile(name) {
    const source = path.join(this.#src, name);
    const output = path.join(this.#out, name.replace(/\.ts$/, '.js'));
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
}
