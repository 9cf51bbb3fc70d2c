import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { recordOrCheck } from '../cells/check-uses.ts';
import { clearUses } from '../cells/uses.ts';
import { checkMismatches } from '../contract/mismatches.ts';
import { runs } from '../property-runs.ts';
import { checkHolds } from './holds.mjs';
import { startTimes } from './times.mjs';
import { registerTypeScript, sourceMaps } from './typescript-hooks.mjs';

const require = createRequire(import.meta.url);
const circus = require('jest-circus/runner').default;

// Property tests have a fixed seed, so that a run does not depend on chance. PROPERTY_SEED sets another one, or `random`.
// A property makes as many cases as it asks for by `runs`, otherwise those of fast-check's 100.
const { PROPERTY_SEED = '1' } = process.env;
const seed = PROPERTY_SEED === 'random' ? {} : { seed: Number(PROPERTY_SEED) };
fc.configureGlobal({ ...seed, numRuns: runs(100) });

/**
 * Runs a test file by jest-circus, with modules that Node imports. Jest's own runtime imports every module again for each file,
 * in a VM context, which took three quarters of the suite's processor time.
 */
export default async function run(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  registerTypeScript(config.cacheDirectory);
  const file = path.relative(config.rootDir, testPath);
  const started = performance.now();
  const writeTimes = startTimes(file);
  clearUses();
  try {
    const result = await circus(
      globalConfig,
      config,
      environment,
      native(runtime),
      testPath,
      sendMessageToJest,
    );
    const held = checkMismatches(checkHolds(file, result));
    return globalConfig.testNamePattern
      ? held
      : recordOrCheck(file, held, (performance.now() - started) / 1e3);
  } finally {
    writeTimes();
  }
}

/** The part of Jest's runtime that jest-circus uses. */
function native(runtime) {
  return {
    requireInternalModule: requireFresh,
    requireModule: require,
    setGlobalsForRuntime: () => undefined,
    unstable_shouldLoadAsEsm: () => true,
    async unstable_importModule(file) {
      const runs = (runsOf.get(file) ?? 0) + 1;
      runsOf.set(file, runs);
      // In watch mode a process runs a file more than once.
      await import(`${pathToFileURL(file).href}${runs > 1 ? `?run=${runs}` : ''}`);
      for (const [url, map] of sourceMaps) runtime.getSourceMaps()?.set(url, map);
    },
    enterTestCode: () => runtime.enterTestCode(),
    leaveTestCode: () => runtime.leaveTestCode(),
    clearAllMocks: () => runtime.clearAllMocks(),
    resetAllMocks: () => runtime.resetAllMocks(),
    restoreAllMocks: () => runtime.restoreAllMocks(),
    resetModules: () => undefined,
  };
}

const runsOf = new Map();
/** Symbols of the global object that hold the state of a run. */
const RUN_STATE = new Set(['EVENT_HANDLERS', 'JEST_STATE_SYMBOL']);

/**
 * jest-circus keeps the tests of a file, and the listeners of their run, in its module and in the global object, under a new
 * symbol for each file. Without this, a worker keeps the application of every file that it has run.
 */
function requireFresh(file) {
  delete require.cache[path.resolve(file)];
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (RUN_STATE.has(symbol.description)) delete globalThis[symbol];
  // Node keeps a module in the list of children of its parent too.
  return createRequire(import.meta.url)(file);
}
