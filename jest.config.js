/** Tests are TypeScript transformed by swc; the application they drive is the built one (`dist`),
 *  so what is tested is what ships, swagger plugin and SQL assets included. */
export default {
  rootDir: '.',
  testEnvironment: 'node',
  // Two cores are what the suite is planned for; jest by itself would leave one of them to the system.
  maxWorkers: 2,
  // Generous: a test waits for what it expects, and a busy machine is no failure.
  testTimeout: 300_000,
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/test/**/*.spec.ts', '<rootDir>/test/**/*.e2e-spec.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          target: 'es2024',
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  moduleNameMapper: {
    '^(?:\\.\\.?/)+src/(.*)\\.js$': '<rootDir>/dist/$1.js',
    '^(\\.{1,2}/(?!.*src/).*)\\.js$': '$1',
  },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};
