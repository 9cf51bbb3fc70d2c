import { type ArgumentsHost, Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { Errors } from '../../../src/platform/http/errors.js';
import { ApiExceptionFilter, asApiError } from '../../../src/platform/http/server/exception.filter.js';
import { QueueFullError } from '../../../src/platform/workers/concurrency-limiter.js';

const error = (code: string) => Object.assign(new Error(code), { code });

describe('an error that no controller handles', () => {
  it.each<[string, unknown, number, string, string | undefined]>([
    ['a full queue', new QueueFullError(), 503, 'overloaded', '1'],
    ['a statement beyond its time limit', error('57014'), 503, 'database_timeout', '10'],
    ['a lock that another session keeps', error('55P03'), 503, 'overloaded', '1'],
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

describe('the log of an error', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each<[string, unknown, 'error' | 'warn']>([
    ['a declared 503', Errors.unavailable.with(), 'warn'],
    ['a failure of the database', error('57P01'), 'error'],
    ['an internal error', Errors.internal.with(), 'error'],
    [
      'a declared error with a cause',
      Object.assign(Errors.overloaded.with(), { cause: new Error('x') }),
      'error',
    ],
  ])('%s', (_, thrown, level) => {
    const logged = ['error', 'warn'] as const;
    const spies = logged.map((each) =>
      jest.spyOn(Logger.prototype, each).mockImplementation(() => undefined),
    );
    const http = {
      getResponse: () => ({ headersSent: true, destroy: () => undefined }),
      getRequest: () => ({}),
    };
    new ApiExceptionFilter().catch(thrown, { switchToHttp: () => http } as unknown as ArgumentsHost);
    expect(spies.map(({ mock }) => mock.calls.length)).toEqual(logged.map((each) => Number(each === level)));
    expect(spies.some(({ mock }) => mock.calls.some(([line]) => line?.err))).toBe(level === 'error');
  });
});
