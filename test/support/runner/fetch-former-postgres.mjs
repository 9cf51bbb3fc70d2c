// Fetches the former PostgreSQL for test/runtime/upgrade, once for all runs. Without a network those tests are skipped, but not in CI.
import path from 'node:path';
import { fetchPrograms } from '../../../dist/platform/database/embedded/upgrade/former-programs.js';

const directory = path.resolve('node_modules', '.cache', 'workspace-former-postgresql');

try {
  await fetchPrograms(directory, '17', { info: console.error });
} catch (error) {
  console.error(`The tests of the upgrade from PostgreSQL 17 cannot run. ${error.message}`);
  if (process.env.CI) process.exitCode = 1;
}
