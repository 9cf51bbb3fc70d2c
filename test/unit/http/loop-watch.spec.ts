import { Registry } from 'prom-client';
import { LoopWatch } from '../../../src/platform/observability/loop-watch.js';

describe('the watch of the event loop', () => {
  const clock = { at: 0, computed: 0 };
  const registry = new Registry();
  const logged: object[] = [];
  const watch = new LoopWatch({ warn: (fields: object) => void logged.push(fields) }, { registry }, () => ({
    ...clock,
  }));
  const open = (path: string) => {
    const place = watch.begin({ method: 'POST', route: { path } } as never);
    return () => watch.end(place);
  };
  const pass = (ms: number, computed: number) => {
    clock.at += ms;
    clock.computed += computed;
    watch.check();
    return logged.splice(0);
  };

  test('reports the route of the request that computed, also when it has ended meanwhile', async () => {
    open('/notes')();
    expect(pass(350, 320)).toEqual([{ ms: 300, cpu_ms: 320, routes: ['POST /notes'] }]);
    expect(await registry.metrics()).toContain('event_loop_held_seconds_total{route="POST /notes"} 0.32');
  });

  test('reports no route of an earlier request, and none outside of requests', async () => {
    expect(pass(350, 320)).toEqual([{ ms: 300, cpu_ms: 320, routes: [] }]);
    expect(await registry.metrics()).toContain('{route="none"} 0.32');
  });

  test('names several candidates in the log only', async () => {
    const ends = [open('/tasks'), open('/forms')];
    expect(pass(500, 450)).toEqual([{ ms: 450, cpu_ms: 450, routes: ['POST /tasks', 'POST /forms'] }]);
    ends.forEach((end) => end());
    expect(await registry.metrics()).toContain('{route="several"} 0.45');
  });

  test.each([
    ['a busy machine, on which the thread waits', 900, 20],
    ['many short computations', 60, 55],
    ['an idle process', 50, 0],
  ])('is silent about %s', (_, ms, computed) => expect(pass(ms, computed)).toEqual([]));

  test('is silent about what ran before it starts', () => {
    clock.at += 3_000;
    clock.computed += 1_500;
    watch.start();
    expect(pass(50, 10)).toEqual([]);
    watch.stop();
  });
});
