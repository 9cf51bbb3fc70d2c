/**
 * The environment of a process that a test starts: without the settings of the developer, with the cache of compiled modules.
 * The cache saves half a second of processor time at each start of the application.
 */
export function childEnv(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
}
