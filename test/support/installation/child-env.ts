/**
 * The environment of a process that a test starts: nothing that the developer has set, and the cache of compiled modules, without which
 * the start of the application takes half a second of processor time more.
 */
export function childEnv(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
}
