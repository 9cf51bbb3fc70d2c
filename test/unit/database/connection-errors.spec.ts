import { isConnectionError } from '../../../src/platform/database/database-errors.js';

test.each(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'])(
  'a database that cannot be reached (%s) is unavailable',
  (code) => {
    expect(isConnectionError(Object.assign(new Error(`connect ${code}`), { code }))).toBe(true);
  },
);
