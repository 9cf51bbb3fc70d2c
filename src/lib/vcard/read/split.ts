import { TextDecoder } from 'node:util';
import { byteOrderMarkOf } from '../../content-lines/index.js';

/** How the bytes of a file are recoded before its lines are found. */
interface Form {
  /** The bytes of the byte order mark. */
  mark: number;
  decoder: TextDecoder | null;
  /** Lines end with CR alone, as on the first Macintosh systems. */
  carriageReturns: boolean;
}

/** Length of the start of the file from which the form is detected. */
const SAMPLE_BYTES = 512;

/** The charset that the sender of a file states. `utf8` removes it where the bytes state another one. */
export interface Stated {
  charset?: string | undefined;
}

/** The chunks without a byte order mark, UTF-16 as UTF-8, lines ending with LF. Other bytes stay as they are. */
export async function* utf8(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  stated: Stated = {},
): AsyncGenerator<Buffer> {
  let form: Form | undefined;
  let start = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (form) yield recode(form, bytes);
    else {
      start = Buffer.concat([start, bytes]);
      if (start.length < SAMPLE_BYTES) continue;
      form = formOf(start);
      if (isStating(form)) stated.charset = undefined;
      yield recode(form, start.subarray(form.mark));
    }
  }
  if (!form) {
    form = formOf(start);
    if (isStating(form)) stated.charset = undefined;
    yield recode(form, start.subarray(form.mark));
  }
  if (form.decoder) yield Buffer.from(form.decoder.decode());
}

const isStating = ({ mark, decoder }: Form): boolean => mark > 0 || decoder !== null;

function formOf(start: Buffer): Form {
  const carriageReturns = start.includes(13) && !start.includes(10);
  const decoded = (label: string, mark: number): Form => ({
    mark,
    decoder: new TextDecoder(label),
    carriageReturns,
  });
  const mark = byteOrderMarkOf(start);
  if (mark && mark.charset !== 'utf-8') return decoded(mark.charset, mark.length);
  // "B" of BEGIN without a mark.
  if (start[0] === 0x42 && start[1] === 0) return decoded('utf-16le', 0);
  if (start[0] === 0 && start[1] === 0x42) return decoded('utf-16be', 0);
  return { mark: mark?.length ?? 0, decoder: null, carriageReturns };
}

function recode({ decoder, carriageReturns }: Form, bytes: Buffer): Buffer {
  const recoded = decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes;
  return carriageReturns ? Buffer.from(recoded.map((byte) => (byte === 13 ? 10 : byte))) : recoded;
}

export interface ReadLimits {
  /** A longer card is an error; reading continues after it. */
  cardBytes: number;
}
export const READ_LIMITS: ReadLimits = { cardBytes: 4 * 1024 * 1024 };

/** The bytes between BEGIN:VCARD and END:VCARD, or the reason why there are none. A card without END ends with the file or with the next BEGIN. */
export type RawCard = { bytes: Buffer; hasEnd: boolean } | { problem: 'card_too_large' };

type Mark = 'begin' | 'nested' | 'end' | 'end-begin';
/** Maximum length of a line with a mark. */
const MARK_LENGTH = 80;
/**
 * Files that were joined have a byte order mark before each first card. It is white space only as a character; lines are bytes here,
 * of which it has three.
 */
const BEGIN = /^[\s\xEF\xBB\xBF]*BEGIN\s*:\s*VCARD\s*$/i;
/** Within a card, such a line continues the previous line. */
const FOLDED = /^[ \t]/;
const END = /^END\s*:\s*VCARD[\s\xEF\xBB\xBF]*(BEGIN\s*:\s*VCARD\s*)?$/i;
/** vCard 2.1: the card of an agent is nested. It begins in the line of its property or in the next one. */
const AGENT = /^(?:[\w-]+\.)?AGENT\s*(?:;[^:]*)?:\s*(BEGIN\s*:\s*VCARD)?\s*$/i;

const isIndented = (byte: number | undefined): boolean => byte === 32 || byte === 9;

/**
 * Cuts a stream of bytes in UTF-8 (or any superset of ASCII) into cards. Memory is bounded by the limit of one card and the
 * length of one chunk; time is linear.
 */
export class CardSplitter {
  private depth = 0;
  private parts: Buffer[] = [];
  private length = 0;
  private tooLarge = false;
  /** The start of an incomplete line that may be a mark. */
  private carry: Buffer = Buffer.alloc(0);
  /** The current line is too long for a mark and its start is in `parts`. */
  private inLongLine = false;
  private agentBefore = false;
  /** The previous line began the card of an agent, unless this line is folded: then the card is a folded value. */
  private nestsNext = false;

  constructor(private readonly limits: ReadLimits = READ_LIMITS) {}

  /** The cards that end in this chunk. */
  *push(input: Buffer): Generator<RawCard> {
    const chunk = this.carry.length > 0 ? Buffer.concat([this.carry, input]) : input;
    let lineStart = 0;
    let cardStart = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, lineStart)) {
      const mark = this.inLongLine ? undefined : this.markOf(chunk, lineStart, end);
      this.inLongLine = false;
      if (mark !== undefined) {
        yield* this.handle(mark, chunk.subarray(cardStart, lineStart));
        // The marks of a nested card belong to the text of the outer card.
        cardStart = mark === 'nested' || (mark === 'end' && this.depth > 0) ? lineStart : end + 1;
      }
      lineStart = end + 1;
    }
    if (!this.inLongLine && chunk.length - lineStart <= MARK_LENGTH) {
      this.keep(chunk.subarray(cardStart, lineStart));
      this.carry = chunk.subarray(lineStart);
    } else {
      this.keep(chunk.subarray(cardStart));
      this.carry = Buffer.alloc(0);
      this.inLongLine = true;
    }
  }

  /** The card that ends with the last line or has no end. */
  *end(): Generator<RawCard> {
    yield* this.push(Buffer.from('\n'));
    if (this.depth > 0) yield this.finished(false);
  }

  private markOf(chunk: Buffer, start: number, end: number): Mark | undefined {
    if (this.nestsNext && !isIndented(chunk[start])) this.depth++;
    this.nestsNext = false;
    const agentBefore = this.agentBefore;
    this.agentBefore = false;
    if (end - start > MARK_LENGTH) return undefined;
    const line = chunk.toString('latin1', start, end);
    if (BEGIN.test(line) && agentBefore && FOLDED.test(line)) {
      this.nestsNext = true;
      return undefined;
    }
    if (BEGIN.test(line) && (this.depth === 0 || agentBefore || !FOLDED.test(line)))
      return this.depth > 0 && agentBefore ? 'nested' : 'begin';
    if (this.depth === 0) return undefined;
    const agent = AGENT.exec(line);
    this.agentBefore = agent !== null && agent[1] === undefined;
    if (agent?.[1] !== undefined) this.nestsNext = true;
    if (this.nestsNext) return undefined;
    const ends = END.exec(line);
    return ends ? (ends[1] ? 'end-begin' : 'end') : undefined;
  }

  private *handle(mark: Mark, before: Buffer): Generator<RawCard> {
    this.keep(before);
    if (mark === 'nested') this.depth++;
    else if (mark === 'begin') {
      if (this.depth > 0) yield this.finished(false);
      this.open();
    } else {
      this.depth--;
      if (this.depth > 0 && mark === 'end') return;
      yield this.finished(true);
      if (mark === 'end-begin') this.open();
    }
  }

  private keep(bytes: Buffer): void {
    if (this.depth === 0 || bytes.length === 0) return;
    this.length += bytes.length;
    if (this.length > this.limits.cardBytes) {
      this.tooLarge = true;
      this.parts = [];
    } else this.parts.push(bytes);
  }

  private open(): void {
    this.close();
    this.depth = 1;
  }

  private close(): void {
    this.depth = 0;
    this.parts = [];
    this.length = 0;
    this.tooLarge = false;
    this.agentBefore = false;
    this.nestsNext = false;
  }

  private finished(hasEnd: boolean): RawCard {
    const { parts, tooLarge } = this;
    this.close();
    if (tooLarge) return { problem: 'card_too_large' };
    return { bytes: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts), hasEnd };
  }
}
