import config from '../../../jest.config.js';

/** `npm run test:cells`, `test:cell-schemas`: the suites of `npm test` with all workspaces in two cells, without those about one database. */
export default {
  ...config,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/{concurrency,contract,e2e}/**/*.e2e-spec.ts'],
  testPathIgnorePatterns: [
    // They add their cells themselves.
    'test/e2e/(backup|cells)/',
    // Tables, statements and connections of one database.
    'test/contract/(schema|sql-homes)',
    'test/e2e/cli/',
    'test/e2e/platform/(audit|blobs|database|events|idempotency|metrics|process|read-pipelines|upgrade)',
  ],
};
