import MimeNode from 'nodemailer/lib/mime-node';
import { domainOf } from '../accounts/addresses.js';
import type { Failure } from '../../platform/smtp/smtp-relay.js';
import type { Entry } from './queue.repository.js';

/** Maximum of the original message's headers that a bounce contains. */
export const HEADER_BYTES = 16_384;

/**
 * Builds a bounce: a text for the sender, a delivery status notification (RFC 3464) and the headers of the message.
 * @param original the first bytes of the message
 */
export async function bounceMessage(entry: Entry, failure: Failure, original: Uint8Array): Promise<Buffer> {
  const domain = domainOf(entry.sender);
  const report = new MimeNode('multipart/report; report-type=delivery-status');
  report.setHeader({
    from: { name: 'Mail Delivery System', address: `MAILER-DAEMON@${domain}` },
    to: entry.sender,
    subject: 'Undelivered mail returned to sender',
    'auto-submitted': 'auto-replied',
    'x-failed-recipients': entry.recipient,
  });
  const reason = oneLine(failure.reason);
  report
    .createChild('text/plain; charset=utf-8')
    .setContent(
      [
        'Your message could not be delivered.',
        '',
        `  To:       ${entry.recipient}`,
        `  Subject:  ${oneLine(entry.subject)}`,
        '',
        `Reason: ${reason}`,
        '',
        'The message was not delivered to this recipient and will not be sent again.',
        '',
      ].join('\r\n'),
    );
  report
    .createChild('message/delivery-status')
    .setContent(
      [
        `Reporting-MTA: dns; ${domain}`,
        `Arrival-Date: ${entry.created_at.toUTCString()}`,
        '',
        `Final-Recipient: rfc822; ${entry.recipient}`,
        'Action: failed',
        `Status: ${failure.status}`,
        `Diagnostic-Code: smtp; ${reason}`,
        '',
      ].join('\r\n'),
    );
  report.createChild('text/rfc822-headers').setContent(headersOf(original));
  return report.build();
}

function headersOf(raw: Uint8Array): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, HEADER_BYTES));
  const end = bytes.indexOf('\r\n\r\n');
  return end < 0 ? bytes : bytes.subarray(0, end + 2);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
