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
  // A limit for tests that hang. A busy machine must not reach it.
  testTimeout: 300_000,
  testMatch: ['<rootDir>/test/**/*.spec.ts', '<rootDir>/test/**/*.e2e-spec.ts'],
  globalSetup: '<rootDir>/test/support/runner/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/runner/global-teardown.mjs',
};
