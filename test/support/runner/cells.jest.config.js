import config from '../../../jest.config.js';
import { WITHOUT_CELLS } from '../cells/selection.ts';

/** `npm run test:cells`, `test:cell-schemas`: all suites of domains with all workspaces in two cells, without those about one database. */
export default {
  ...config,
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/{concurrency,contract,e2e}/**/*.e2e-spec.ts'],
  testPathIgnorePatterns: WITHOUT_CELLS,
};
