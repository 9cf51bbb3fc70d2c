import { Injectable } from '@nestjs/common';
import { type Card, type CardEntry, newCard, writeCard } from '../../../lib/vcard/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { fileReply } from '../../../platform/http/replies/file-reply.js';
import { vcardOf, vcardText } from '../responses/contact.presenter.js';
import { ContactPhotos } from '../contact-photos.js';
import { GlobalBook } from '../global-book.js';
import type { SelfCardQrQuery, SelfCardQuery } from './self-card.dto.js';
import { cutText } from '../../../lib/text/index.js';

/** Maximum bytes of a QR code. Phone cameras do not read larger ones reliably. */
const QR_BYTES = 800;

/** The caller's own card: their card in the address book of the workspace. */
@Injectable()
export class SelfCardService {
  constructor(
    private readonly global: GlobalBook,
    private readonly photos: ContactPhotos,
  ) {}

  /** A vCard file. */
  async download(ctx: RequestContext, { version, photo: withPhoto }: SelfCardQuery): Promise<BodyReply> {
    const row = await this.global.ownCard(ctx);
    const photo = await this.photos.forCard(ctx.tenantId, withPhoto === 'true' ? row.photo_id : null);
    return fileReply(Buffer.from(vcardText(row, version, photo)), {
      contentType: 'text/vcard; charset=utf-8',
      title: vcardOf(row).full_name ?? '',
      extension: '.vcf',
      otherwise: 'card.vcf',
    });
  }

  /** A picture of a QR code with the card. Phones add it to their contacts. */
  async qrCode(ctx: RequestContext, { format }: SelfCardQrQuery): Promise<BodyReply> {
    const text = qrText(vcardOf(await this.global.ownCard(ctx)));
    const { default: qr } = await import('qrcode');
    const options = { errorCorrectionLevel: 'M', margin: 4, scale: 6 } as const;
    const headers = {
      'Cache-Control': 'private, no-cache',
      'Content-Disposition': `inline; filename="card.${format}"`,
    };
    if (format === 'png')
      return new BodyReply(await qr.toBuffer(text, options), { contentType: 'image/png', headers });
    const svg = await qr.toString(text, { ...options, type: 'svg' });
    return new BodyReply(Buffer.from(svg), { contentType: 'image/svg+xml', headers });
  }
}

/** The vCard 3.0 with as many fields as a QR code can hold. Each candidate has fewer fields than the one before. */
function qrText({ full_name, name, organization, job_title, emails, phones, urls, addresses }: Card): string {
  const reach = { full_name, name, emails, phones };
  const work = { ...reach, organization, job_title };
  const short = full_name && cutText(full_name, 100);
  const plain = <T extends CardEntry>([first]: readonly T[]): T[] =>
    first ? [{ ...first, label: null, types: [] }] : [];
  const last = { full_name: short, emails: plain(emails), phones: plain(phones) };
  const candidates = [{ ...work, urls, addresses }, { ...work, urls }, work, reach, last].map((fields) =>
    writeCard(newCard(fields), { version: '3.0' }),
  );
  return candidates.find((text) => Buffer.byteLength(text) <= QR_BYTES) ?? (candidates.at(-1) as string);
}
