import base from '../../jest.config.js';

/** The tests that need PgBouncer, which `.ci/ensure-pgbouncer` installs: `npm run test:pooler`. */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/pooler/**/*.pooler-spec.ts'] };
