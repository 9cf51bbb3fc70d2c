/** The application under test is the built one (`dist`), so that the tests cover what is shipped, the output of the Swagger
 *  plugin and SQL files included. */
export default {
  rootDir: '.',
  // Files of one worker share their modules: see there.
  testEnvironment: '<rootDir>/test/support/runner/environment.mjs',
  testRunner: '<rootDir>/test/support/runner/runner.mjs',
  testSequencer: '<rootDir>/test/support/runner/sequencer.mjs',
  transform: {},
  // Two cores: tests wait for PostgreSQL, child processes and time limits during half of their time.
  maxWorkers: 3,
  // The release of a worker's memory (1 to 1.6 GB) takes 0.3 to 1.3 s on a busy machine; with the default of 0.5 s jest reports a leak.
  workerGracefulExitTimeout: 10_000,
  // A limit for tests that hang. A busy machine must not reach it.
  testTimeout: 300_000,
  testMatch: ['<rootDir>/test/**/*.spec.ts', '<rootDir>/test/**/*.e2e-spec.ts'],
  globalSetup: '<rootDir>/test/support/runner/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/runner/global-teardown.mjs',
};
