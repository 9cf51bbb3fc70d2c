import type { MessageRow } from '../../../src/mail-service/messages/messages.repository.js';
import { derivedFrom, type Reference } from '../../../src/mail-service/messages/upload.service.js';

const subjectOf = (subject: string, action: Reference['action']): string => {
  const summary = { from: null, replyTo: [], to: [], cc: [], references: [] };
  const row = { subject, message_id: '<1@x.example>', summary } as unknown as MessageRow;
  return derivedFrom({ row, link: { mailbox: 'm', id: 1, action } }, 'a@x.example').subject;
};

describe('the subject', () => {
  test.each(
    'Re: x|RE:x|Re[2]: x|Re(3): x|Re^2: x|Re : x|Re\u00a0: x|RE：x|AW: x|Antw: x|Sv: x|Odp: x|答复: x|回复：x'.split(
      '|',
    ),
  )('of a reply to a reply stays: %s', (subject) => {
    expect(subjectOf(subject, 'reply')).toBe(subject);
    expect(subjectOf(subject, 'replyAll')).toBe(subject);
    expect(subjectOf(subject, 'forward')).toBe(`Fwd: ${subject}`);
  });

  test.each(['x', 'Ref: 12', 'Regarding: x', 'Res: x', 'Re x: y', 'Fwd: x', 'WG: x', ''])(
    'of a reply to another message has a prefix: %s',
    (subject) => expect(subjectOf(subject, 'reply')).toBe(`Re: ${subject}`),
  );

  test.each(['Fwd: x', 'FW: x', 'Fw : x', 'WG: x', '转发：x'])(
    'of a forward of a forward stays: %s',
    (subject) => expect(subjectOf(subject, 'forward')).toBe(subject),
  );
});
