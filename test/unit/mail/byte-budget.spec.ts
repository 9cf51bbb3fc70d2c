import { ByteBudget, ByteReservation } from '../../../src/mail-service/limits.js';

const MB = 1024 * 1024;

test('bytes are returned once and never over-allocated', () => {
  const budget = new ByteBudget();
  const [a, b] = [new ByteReservation(budget), new ByteReservation(budget)];
  expect([a.take(300 * MB), b.take(300 * MB), b.take(200 * MB)]).toEqual([true, false, true]);
  a.release();
  a.release();
  expect([a.take(313 * MB), a.take(312 * MB), a.take(1)]).toEqual([false, true, false]);
});
