import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Turns, waitForSlice } from '../../src/lib/turns/index.js';

/** A computation that writes its name for each step. */
async function compute(name: string, steps: number, turns: Turns, done: string[]): Promise<void> {
  for (let step = 0; step < steps; step++) {
    done.push(name);
    await turns.pause();
  }
}

test('of several computations one has a slice in each turn of the event loop, in the order of their waiting', async () => {
  let now = 0;
  // Each step takes a whole slice.
  const endless = (): Turns => new Turns(10, () => (now += 10));
  const done: string[] = [];
  const all = ['a', 'b', 'c'].map((name) => compute(name, 3, endless(), done));
  const slices: string[] = [];
  while (done.length < 9) {
    slices.push(done.splice(0).join(''));
    await endOfTurn();
    if (slices.length === 8) break;
  }
  await Promise.all(all);
  expect(slices).toEqual(['abc', 'a', 'b', 'c', 'a', 'b', 'c', '']);
});

test('a computation within its slice does not wait', async () => {
  const turns = new Turns(10, () => 0);
  expect(turns.pause()).toBeUndefined();
  let continued = 0;
  void waitForSlice().then(() => continued++);
  await Promise.resolve();
  expect(continued).toBe(0);
  await endOfTurn();
  expect(continued).toBe(1);
});
