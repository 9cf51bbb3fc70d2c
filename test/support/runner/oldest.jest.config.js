import config from '../../../jest.config.js';

/** Files that prepare or execute all statements, migrations and stored functions, and the errors that statements end with. */
const FILES = [
  'test/contract/{previous-release,schema,several-databases,statement-rows,table-growth}.e2e-spec.ts',
  'test/e2e/platform/{database,events,idempotency,read-pipelines,row-batches,stored-sql,upgrade}.e2e-spec.ts',
  'test/e2e/backup/{cells,faults}.e2e-spec.ts',
  'test/concurrency/{calendar,chat,notes}.e2e-spec.ts',
];

/** `npm run test:oldest`: these files on the oldest supported PostgreSQL (`oldest-postgres.mjs`), which npm fetches. */
export default { ...config, rootDir: '../../..', testMatch: FILES.map((file) => `<rootDir>/${file}`) };
