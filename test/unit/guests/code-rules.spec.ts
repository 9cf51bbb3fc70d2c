import type { ApiError } from '../../../src/platform/http/errors.js';
import { checkCode, type CodeRow, countRequest } from '../../../src/modules/calls/guests/model/code-rules.js';

const now = new Date('2026-11-28T12:00:00Z');
const before = (seconds: number): Date => new Date(now.getTime() - seconds * 1_000);

describe('a code', () => {
  const [right, wrong] = [Buffer.from('right'), Buffer.from('wrong')];
  const sent: CodeRow = { code_hmac: right, attempts: 1, expires_at: before(-90), consumed_at: null };
  const check = (row: Partial<CodeRow>, ...codes: Buffer[]) => checkCode({ ...sent, ...row }, codes, now);
  const left = (error: ApiError | null) => [error?.kind.code, error?.body['attempts_left']];

  it('that is correct, by any key, is spent', () => {
    const row = { ...sent, attempts: 2, code_hmac: null, consumed_at: now };
    expect(check({}, wrong, right)).toEqual({ error: null, row });
  });

  it('that is wrong or spent, or of an address without one, counts', () => {
    for (const [row, ...codes] of [[sent, wrong], [sent], [{ ...sent, code_hmac: null }, right]] as const) {
      const result = check(row, ...codes);
      expect(left(result.error)).toEqual(['otp_invalid', 3]);
      expect(result.row).toEqual({ ...row, attempts: 2 });
    }
    expect(left(check({ attempts: 4 }, wrong).error)).toEqual(['otp_invalid', 0]);
  });

  it('has five attempts, also the correct one, until it expires', () => {
    const { error, row } = check({ attempts: 5 }, right);
    expect([error?.kind.code, error?.extras.headers, row]).toEqual([
      'otp_locked',
      { 'Retry-After': '90' },
      null,
    ]);
  });

  it.each([0, 1])('that has expired %s seconds ago is invalid, and the attempts begin again', (seconds) => {
    const { error, row } = check({ attempts: 5, expires_at: before(seconds) }, right);
    expect(left(error)).toEqual(['otp_invalid', 4]);
    expect(row).toEqual({ code_hmac: null, attempts: 1, expires_at: before(-600), consumed_at: null });
  });
});

describe('limits of codes', () => {
  const limit = (max: number, seconds: number) => ({ scope: 's', subject: Buffer.alloc(0), max, seconds });

  it('count in sliding windows, and all or none of them', () => {
    const two = [limit(2, 60), limit(1, 10)];
    expect(countRequest(two, [[before(70), before(30)], []], now)).toEqual({
      wait: 0,
      times: [[before(30), now], [now]],
    });
    expect(countRequest(two, [[before(30)], [before(4)]], now)).toEqual({
      wait: 6,
      times: [[before(30)], [before(4)]],
    });
    expect(countRequest([limit(2, 60)], [[before(50), before(30)]], now).wait).toBe(10);
  });

  it('of zero requests reject with the whole window', () => {
    expect(countRequest([limit(0, 60)], [[]], now)).toEqual({ wait: 60, times: [[]] });
  });
});
