import type { AttachmentStream } from 'mailparser';

/** A calendar of a message. */
export interface CalendarPart {
  /** The `method` of its Content-Type, upper case; null without one. */
  method: string | null;
  /** Base64; null for a message whose calendar is hidden in TNEF (`winmail.dat`). */
  content: string | null;
}

/** Longer calendars, in bytes, are no scheduling messages. */
const MAX_CALENDAR = 1_048_576;
const MAX_METHOD = 40;

/** In the order of preference: the part of RFC 6047, a calendar without method, a calendar file, TNEF. */
const RANKS = { method: 0, calendar: 1, file: 2, tnef: 3 };

/** Finds the scheduling message among the parts of a mail (RFC 6047). */
export class CalendarPartFinder {
  private best: { rank: number; part: CalendarPart } | null = null;

  get found(): CalendarPart | null {
    return this.best?.part ?? null;
  }

  /** @returns a reader of this attachment's content, or undefined where it is not needed */
  readerOf({
    contentType,
    filename,
    headers,
  }: AttachmentStream): ((content: AsyncIterable<Buffer>) => Promise<void>) | undefined {
    const type = contentType?.toLowerCase() ?? '';
    if (type === 'application/ms-tnef' || /^winmail\.dat$/i.test(filename ?? '')) {
      this.offer(RANKS.tnef, { method: null, content: null });
      return undefined;
    }
    if (type !== 'text/calendar' && type !== 'application/ics') return undefined;
    const { params } = (headers.get('content-type') ?? {}) as { params?: Record<string, unknown> };
    const given = params?.['method'];
    const method = typeof given === 'string' ? given.slice(0, MAX_METHOD).toUpperCase() : null;
    const rank = type !== 'text/calendar' ? RANKS.file : method === null ? RANKS.calendar : RANKS.method;
    if (this.best && this.best.rank <= rank) return undefined;
    return async (content) => {
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of content) {
        length += chunk.length;
        if (length <= MAX_CALENDAR) chunks.push(chunk);
      }
      if (length <= MAX_CALENDAR)
        this.offer(rank, { method, content: Buffer.concat(chunks).toString('base64') });
    };
  }

  private offer(rank: number, part: CalendarPart): void {
    if (!this.best || rank < this.best.rank) this.best = { rank, part };
  }
}
