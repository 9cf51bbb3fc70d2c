import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Returns a function that loads packages at the first call and keeps the result, and after a failure loads them again at the next
 * call. An `import` would keep a failure, e.g. without memory or file descriptors, until the process ends.
 * @param load loads packages by the given `require`; relative paths are not supported
 */
export function lazy<T extends object>(load: (require: NodeJS.Require) => T): () => T {
  let loaded: T | undefined;
  return () => (loaded ??= load(require));
}
