import fc from 'fast-check';
import { composeText } from '../../../src/modules/incoming-webhooks/receiving/slack-text.js';
import { runs } from '../../support/property-runs.ts';

const markdown = (text: string) => composeText({ text }).text;

describe('text of a payload for Slack', () => {
  test.each([
    ['*bold* and _it_', '**bold** and _it_'],
    ['a*b*c 2 * 3 * 4', 'a\\*b\\*c 2 * 3 * 4'],
    ['`_a_`, __init__, snake_case_name _x_', '`_a_`, \\_\\_init\\_\\_, snake_case_name _x_'],
    ['**a** ~~b~~', '\\*\\*a\\*\\* \\~\\~b\\~\\~'],
    ['[docs](https://example.com/a_b_)', '\\[docs](<https://example.com/a_b>\\_)'],
    ['![x](y) <https://example.com|label [x]>', '!\\[x](y) [label \\[x\\]](https://example.com)'],
    ['# no\n#1\nTitle\n---', '\\# no  \n#1  \nTitle  \n\\---'],
    ['> quote\n> more\nafter', '> quote  \n> more\n\nafter'],
    ['>>> all\nof it', '> all  \n> of it'],
    ['a\n    b', 'a  \n\u00a0\u00a0\u00a0\u00a0b'],
    ['C:\\*.txt <b>x</b> &copy; ``', 'C:\\\\\\*.txt \\<b>x\\</b> &amp;copy; \\`\\`'],
    ['see ```one\n*two*``` end', 'see\u0020\n```\none\n*two*\n```\n end'],
    [
      'https://example.com/_x_*y* *https://example.com*',
      '<https://example.com/_x_*y>\\* **https://example.com**',
    ],
    ['~gone~', '~~gone~~'],
    ['<https://example.com/a_(b)|with parentheses>', '[with parentheses](<https://example.com/a_(b)>)'],
    ['<https://example.com/a?b=1|the page>', '[the page](https://example.com/a?b=1)'],
    ['<https://example.com>', '<https://example.com>'],
    ['<@U123|bob> in <#C1|general>, <!here>', '@bob in #general, @here'],
    ['<!date^1392734382^{date}|Feb 18>', 'Feb 18'],
    ['`a &lt; *b*` &lt; *c*', '`a < *b*` &lt; **c**'],
    ['```\n*x* &amp; y\n```', '```\n*x* & y\n```'],
    ['line 1\nline 2\n\nline 3', 'line 1  \nline 2\n\nline 3'],
  ])('%j becomes CommonMark', (given, expected) => {
    expect(composeText({ text: given })).toEqual({ text: expected, format: 'markdown' });
  });

  test('without markup stays as it is, but for entities', () => {
    expect(composeText({ text: '*a* &lt;b&gt; &amp;amp;', mrkdwn: false })).toEqual({
      text: '*a* <b> &amp;',
      format: 'plain',
    });
  });

  test('plain text of blocks, and titles, names and footers of attachments, have no markup', () => {
    const plain = (text: string) => ({ type: 'plain_text', text });
    const blocks = [
      { type: 'header', text: plain('Deploy *x* &amp; _y_') },
      { type: 'section', text: plain('*a* `b` <c>\n> d'), fields: [plain('~e~')] },
    ];
    const attachments = [{ title: '*t*', title_link: 'https://example.com', text: '*x*', footer: '`f`' }];
    expect(composeText({ blocks, attachments }).text.split('  \n')).toEqual([
      '**Deploy *x\\* &amp; _y\\_**',
      '*a\\* \\`b\\` \\<c>',
      '\\> d',
      '~e\\~',
      '[*t\\*](https://example.com)',
      '**x**',
      '\\`f\\`',
    ]);
    expect(composeText({ text: '*a*', mrkdwn: false, attachments: [{ text: 'b' }] }).text).toBe('*a\\*  \nb');
  });

  test('blocks replace the text, attachments follow', () => {
    const payload = {
      text: 'fallback',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Deploy' } },
        { type: 'divider' },
        { type: 'section', text: { type: 'mrkdwn', text: '*done*' }, fields: [{ text: 'a' }, { text: 'b' }] },
        { type: 'context', elements: [{ text: 'by' }, { text: 'ci' }, { type: 'image' }] },
        null,
        7,
      ],
      attachments: [
        {
          pretext: 'p',
          title: 't',
          title_link: 'https://example.com',
          text: 'x',
          fields: [{ title: 'k', value: 'v' }],
        },
        { fallback: 'only this' },
        {},
      ],
    };
    expect(composeText(payload).text.split('  \n')).toEqual([
      '**Deploy**',
      '**done**',
      'a',
      'b',
      'by ci',
      'p',
      '[t](https://example.com)',
      'x',
      'k: v',
      'only this',
    ]);
  });

  test('attachments have blocks, numbers as values, an author and a footer', () => {
    const section = { type: 'section', text: { type: 'mrkdwn', text: 'in *blocks*' } };
    const attachments = [
      { color: 'good', fallback: 'unused', blocks: [section] },
      { author_name: 'Ann', author_link: 'https://example.com/ann', title: 't', text: 'x', footer: 'by CI' },
      {
        author_name: 'Ben',
        fields: [{ title: 'Value', value: 1.5 }, { value: 0 }, { title: 'Set', value: false }],
      },
    ];
    expect(composeText({ text: 'top', attachments }).text.split('  \n')).toEqual([
      'top',
      'in **blocks**',
      '[Ann](https://example.com/ann)',
      't',
      'x',
      'by CI',
      'Ben',
      'Value: 1.5',
      '0',
      'Set: false',
    ]);
  });

  test.each(['[', '_', '*a', '`', '```', '<a', '~', '\\', '> ', '_a_b', '&#', 'https://a_'])(
    'takes linear time for many %j',
    (piece) => {
      const text = piece.repeat(32_000 / piece.length);
      const started = performance.now();
      markdown(text);
      composeText({ blocks: [{ text: { type: 'plain_text', text } }] });
      expect(performance.now() - started).toBeLessThan(500);
    },
  );

  test('keeps the words of any text', () => {
    const piece = fc.constantFrom(
      '*',
      '~',
      '`',
      '```',
      '<',
      '>',
      '|',
      '&lt;',
      ' ',
      '\n',
      'word',
      '@',
      '!',
      'https://x.y',
    );
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (given) => {
        const words = (of: string) => of.match(/word/g)?.length ?? 0;
        expect(words(markdown(given))).toBeGreaterThanOrEqual(words(given.replace(/<[^<>\n]*>/g, '')));
      }),
      { numRuns: runs(300) },
    );
  });
});
