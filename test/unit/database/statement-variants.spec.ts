import { StatementVariants } from '../../../src/platform/database/statement.js';

describe('variants of a statement', () => {
  const variants = new StatementVariants<never>('test.list');
  const of = (n: number) => variants.of(`v${n}`, () => `SELECT ${n}`, { longTextsAsBytes: true });

  test('at most 200 are prepared, each under a name of its own', () => {
    const made = Array.from({ length: 210 }, (_, n) => of(n));
    const names = made.map(({ name }) => name);
    expect(new Set(names.slice(0, 200)).size).toBe(200);
    expect(names.slice(0, 200)).toEqual(expect.not.arrayContaining(['']));
    expect(names.slice(200)).toEqual(Array(10).fill(''));
    expect(of(7)).toBe(made[7]);
    expect(made[205]).toMatchObject({ text: 'SELECT 205', longTextsAsBytes: true });
  });
});
