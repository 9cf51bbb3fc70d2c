import { cleanHtml } from '../../../src/lib/html/clean.js';
import { HtmlPolicy, HtmlTooComplexError, HtmlWorkerPool } from '../../../src/platform/html/html-policy.js';
import { QueueFullError } from '../../../src/platform/workers/concurrency-limiter.js';
import { SHARE } from '../../support/property-runs.ts';

const TWO_MB = 2 * 1024 * 1024;
const times = (text: string, length = TWO_MB): string => text.repeat(Math.ceil(length / text.length));
const large = (offender: string, length = 100_000): string =>
  offender + times('<p class=a>some text</p>', length);
/** Texts without a limit but that of their length are read to the end, which takes a second for each MB. */
const part = Math.min(SHARE, 1);

/** The code of the rejection, or whether the text was kept or cleaned. */
async function outcome(result: Promise<string>, html: string): Promise<string> {
  try {
    return (await result) === html ? 'kept' : 'cleaned';
  } catch (error) {
    if (error instanceof HtmlTooComplexError) return error.code;
    throw error;
  }
}

describe('limits', () => {
  // The time limit of the service depends on the load of the machine. Each text takes a fraction of a second or two.
  const policy = new HtmlWorkerPool({ timeoutMs: 120_000 });
  afterAll(() => policy.close());

  it('allows a depth of at most 256', async () => {
    const deep = (n: number): string => '<div>'.repeat(n) + '</div>'.repeat(n);
    // The root of the fragment is one of the 256.
    expect(await outcome(policy.run(deep(255)), deep(255))).toBe('kept');
    expect(await outcome(policy.run(deep(256)), deep(256))).toBe('too_deep');
    expect(await outcome(policy.run(deep(20_000)), deep(20_000))).toBe('too_deep');
  });

  it('allows at most 100,000 nodes', async () => {
    // The parser creates two more nodes.
    expect(await outcome(policy.run('<br>'.repeat(99_998)), '<br>'.repeat(99_998))).toBe('kept');
    expect(await outcome(policy.run('<br>'.repeat(99_999)), '')).toBe('too_many_nodes');
  });

  it('accepts many children of removed elements', async () => {
    expect((await policy.run('<foo>'.repeat(250) + '<br>'.repeat(99_000))).length).toBe(99_000 * 4);
  });

  it.each([
    ['bold', times('<b>'), 'too_deep'],
    ['misnested formatting', times('<b><p></b>'), 'too_many_nodes'],
    ['links in links', times('<a><p>'), 'too_many_nodes'],
    [
      'formatting to reconstruct',
      Array.from({ length: 200 }, (_, i) => `<b a=${i}>`).join('') + times('<p>x'),
      'too_many_nodes',
    ],
    ['fostered content', `${times('x<br>', 300_000)}<table>${times('<i></i>x', 300_000)}`, 'too_many_nodes'],
    ['siblings moved around', `<p>${'<br>'.repeat(50_000)}${'<b><div></b>'.repeat(80)}`, 'kept'],
    ['comments', times('<!-->'), 'too_many_nodes'],
    ['svg', times('<svg>'), 'too_deep'],
    ['templates', times('<template>'), 'too_deep'],
  ])('2 MB of %s', async (_, html, expected) => {
    expect(await outcome(policy.run(html), html)).toBe(expected);
  });

  it.each([
    ['less-than', times('<', TWO_MB * part), 'cleaned'],
    ['less-than with spaces', times('< ', TWO_MB * part), 'kept'],
    ['one attribute again and again', `<a ${times('x=1 ', TWO_MB * part)}>`, 'cleaned'],
    [
      'different attributes',
      `<a ${Array.from({ length: 250_000 * part }, (_, i) => `a${i}`).join(' ')}>`,
      'cleaned',
    ],
    ['style', `<p style="${times('color:red;', TWO_MB * part)}x:y">a</p>`, 'cleaned'],
    ['an open quote', `<a x="${times('y', TWO_MB * part)}`, 'cleaned'],
  ])('up to 2 MB of %s', async (_, html, expected) => {
    expect(await outcome(policy.run(html), html)).toBe(expected);
  });
});

describe('workers', () => {
  const pools: HtmlWorkerPool[] = [];
  const pool = (options: ConstructorParameters<typeof HtmlWorkerPool>[0]): HtmlWorkerPool => {
    const made = new HtmlWorkerPool(options);
    pools.push(made);
    return made;
  };
  afterAll(() => Promise.all(pools.map((each) => each.close())));

  it('return the same as the inline path for each text', async () => {
    const one = pool({ workers: 1 });
    for (const offender of ['<script>x</script>', '', '<p onclick=x>a</p>', '<svg><p>', '\0']) {
      const html = large(offender, 10_000);
      expect(await one.run(html)).toBe(cleanHtml(html));
    }
    await expect(one.run('<div>'.repeat(300))).rejects.toMatchObject({ code: 'too_deep' });
    expect(await one.run('<i>a<script></script>')).toBe('<i>a</i>');
  });

  it('serve many at once', async () => {
    const two = pool({ workers: 2 });
    const texts = Array.from({ length: 12 }, (_, i) => `<p onclick=x>${i}</p>`);
    expect(await Promise.all(texts.map((text) => two.run(text)))).toEqual(texts.map((_, i) => `<p>${i}</p>`));
  });

  it('leave the event loop free', async () => {
    const policy = new HtmlPolicy();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await policy.check(large('<script></script>').repeat(10));
    clearInterval(timer);
    await policy.onModuleDestroy();
    expect(turns).toBeGreaterThan(20);
  });

  it('are terminated after their time limit, and replaced', async () => {
    const hasty = pool({ workers: 1, timeoutMs: 1 });
    await expect(hasty.run(large('<script></script>'))).rejects.toMatchObject({ code: 'too_slow' });
    const patient = pool({ workers: 1, timeoutMs: 5000 });
    const slow = times('<'); // About a second.
    const short = pool({ workers: 1, timeoutMs: 150 });
    await expect(short.run(slow)).rejects.toMatchObject({ code: 'too_slow' });
    expect(await patient.run('<p onclick=x>a')).toBe('<p>a</p>');
  });

  it('have a memory limit of their own', async () => {
    const small = pool({ workers: 1, memoryMb: 16 });
    await expect(small.run('<br>'.repeat(99_000))).rejects.toMatchObject({ code: 'too_many_nodes' });
    expect(await small.run('<p onclick=x>a')).toBe('<p>a</p>');
  });

  it('reject texts when the queue is full', async () => {
    const tiny = pool({ workers: 1, queue: 1 });
    const first = tiny.run('<i>1</i>');
    const second = tiny.run('<i>2</i>');
    await expect(tiny.run('<i>3</i>')).rejects.toBeInstanceOf(QueueFullError);
    expect(await Promise.all([first, second])).toEqual(['<i>1</i>', '<i>2</i>']);
  });

  it('end with the module, and reject their texts', async () => {
    const policy = new HtmlPolicy();
    const running = policy.check(large('<script></script>'));
    const [rejected] = await Promise.allSettled([running, policy.onModuleDestroy()]);
    expect(rejected).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('closed') },
    });
    await expect(policy.check(large('<script></script>'))).rejects.toThrow('closed');
  });
});
