import { asApiError } from '../../../src/platform/http/server/exception.filter.js';
import { QueueFullError } from '../../../src/platform/workers/concurrency-limiter.js';

const error = (code: string) => Object.assign(new Error(code), { code });

describe('an error that no controller handles', () => {
  it.each<[string, unknown, number, string, string | undefined]>([
    ['a full queue', new QueueFullError(), 503, 'overloaded', '1'],
    ['a full disk of the database', error('53100'), 507, 'storage_full', '10'],
    ['a full disk, reported by TypeORM', { driverError: error('53100') }, 500, 'internal_error', undefined],
    ['a full file system', new Error('x', { cause: error('ENOSPC') }), 507, 'storage_full', '10'],
    ['a lost connection', error('57P01'), 503, 'database_unavailable', '1'],
    ['a database that became a read-only replica', error('25006'), 503, 'database_unavailable', '1'],
    ['anything else', new Error('x'), 500, 'internal_error', undefined],
  ])('%s', (_, thrown, status, code, retryAfter) => {
    const { kind, extras } = asApiError(thrown);
    expect([kind.status, kind.code, extras.headers?.['Retry-After']]).toEqual([status, code, retryAfter]);
  });
});
