import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: (string | string[])[]): string => list.flat().join('\r\n') + '\r\n';
const report = (type: string, ...parts: string[][]) =>
  parseMessage(
    Readable.from([
      Buffer.from(
        lines(
          'Subject: report',
          `Content-Type: multipart/report; report-type=${type}; boundary=b`,
          '',
          ...parts.map((part) => ['--b', ...part]),
          '--b--',
        ),
      ),
    ]),
  );
const NOTE = ['Content-Type: text/plain; charset=utf-8', '', 'Not delivered.', ''];

describe('reports', () => {
  test.each([
    ['message/delivery-status', 'attachment-1.txt'],
    ['message/global-delivery-status; charset=utf-8', 'attachment-1.txt'],
    ['message/disposition-notification', 'attachment-1.txt'],
    ['message/feedback-report', 'attachment-1.txt'],
    ['text/rfc822-headers', 'attachment-1.txt'],
    ['message/rfc822', 'attachment-1.eml'],
    ['message/global', 'attachment-1.eml'],
    ['message/partial', 'attachment-1.eml'],
    ['application/x-unknown', 'attachment-1.bin'],
  ])('%s without a name is a file that opens', async (type, name) => {
    const { attachments } = await report('x', NOTE, [`Content-Type: ${type}`, '', 'Subject: x', '', 'y']);
    expect(attachments.map(({ filename }) => filename)).toEqual([name]);
  });
});
