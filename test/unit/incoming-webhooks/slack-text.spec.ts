import fc from 'fast-check';
import { composeText } from '../../../src/modules/incoming-webhooks/receiving/hook-targets.js';
import { runs } from '../../support/property-runs.ts';

const markdown = (text: string) => composeText({ text }).text;

describe('text of a payload for Slack', () => {
  test.each([
    ['*bold* and _it_', '**bold** and _it_'],
    ['a*b*c 2 * 3 * 4', 'a*b*c 2 * 3 * 4'],
    ['~gone~', '~~gone~~'],
    ['<https://example.com/a_(b)|with parentheses>', '[with parentheses](<https://example.com/a_(b)>)'],
    ['<https://example.com/a?b=1|the page>', '[the page](https://example.com/a?b=1)'],
    ['<https://example.com>', '<https://example.com>'],
    ['<@U123|bob> in <#C1|general>, <!here>', '@bob in #general, @here'],
    ['<!date^1392734382^{date}|Feb 18>', 'Feb 18'],
    ['`a &lt; *b*` &lt; *c*', '`a < *b*` &lt; **c**'],
    ['```\n*x* &amp; y\n```', '```\n*x* & y\n```'],
    ['line 1\nline 2', 'line 1\nline 2'],
  ])('%j becomes CommonMark', (given, expected) => {
    expect(composeText({ text: given })).toEqual({ text: expected, format: 'markdown' });
  });

  test('without markup stays as it is, but for entities', () => {
    expect(composeText({ text: '*a* &lt;b&gt; &amp;amp;', mrkdwn: false })).toEqual({
      text: '*a* <b> &amp;',
      format: 'plain',
    });
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
    expect(composeText(payload).text.split('\n')).toEqual([
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
    expect(composeText({ text: 'top', attachments }).text.split('\n')).toEqual([
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
