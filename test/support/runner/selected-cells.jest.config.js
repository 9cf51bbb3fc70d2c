import config from '../../../jest.config.js';
import { ALWAYS, readList } from '../cells/selection.ts';

/**
 * `npm run test:cells:selected`, `test:cell-schemas:selected`: the files that execute what takes another way where workspaces are
 * in several databases.
 */
export default {
  ...config,
  rootDir: '../../..',
  testMatch: [...Object.keys(ALWAYS), ...readList().keys()].map((file) => `<rootDir>/${file}`),
};
