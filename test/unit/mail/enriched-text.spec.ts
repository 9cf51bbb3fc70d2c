import { Readable } from 'node:stream';
import { enrichedText } from '../../../src/mail-service/mime/correction/enriched-text.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: string[]): string => list.join('\r\n') + '\r\n';
const parse = (message: string) => parseMessage(Readable.from([Buffer.from(message)]));

describe('enriched text', () => {
  test.each([
    ['<bold>Now</bold> is <italic>the</italic> time', 'Now is the time'],
    ['<color><param>red</param>red</color> text', 'red text'],
    ['a << b', 'a < b'],
    ['one\r\nline\r\n\r\nnext\r\n\r\n\r\nlast', 'one line\nnext\n\nlast'],
    ['<nofill>a\r\nb\r\n\r\nc</nofill>', 'a\r\nb\r\n\r\nc'],
    ['a <lt> b<nl>c <comment>no</comment>d', 'a < b\nc d'],
    ['a < b and c > d', 'a < b and c > d'],
    ['</param>a</nofill>b', 'ab'],
  ])('%j', (source, text) => {
    expect(enrichedText(source)).toBe(text);
  });

  test.each(['text/enriched; charset=us-ascii', 'text/richtext'])('of a mail in %s', async (type) => {
    const { text, html, intro, attachments } = await parse(
      lines('Subject: x', `Content-Type: ${type}`, '', '<bold>Hi</bold> there <<x>', '', 'Bye'),
    );
    expect([text, intro, attachments]).toEqual(['Hi there <x>\nBye', 'Hi there <x> Bye', []]);
    expect(html).toBe('<p>Hi there &lt;x&gt;<br/>Bye</p>');
  });

  test('is read in linear time', () => {
    for (const piece of ['<', '<<', '<bold>', '<param>', '\r\n', '<a', '</nofill>'])
      expect(enrichedText(piece.repeat(200_000)).length).toBeLessThanOrEqual(piece.length * 200_000);
  });
});
