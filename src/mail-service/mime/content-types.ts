import { Transform, type TransformCallback } from 'node:stream';

/** A longer head is not examined. */
const MAX_HEAD = 1_048_576;
/** Bytes of the body that are examined for a boundary. */
const EXAMINED = 262_144;
/** A longer line is no boundary: RFC 2046 limits it to 70 characters. */
const MAX_BOUNDARY_LINE = 1_000;
const LF = 10;
const CR = 13;
const DASH = 45;

const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;

/** A Content-Type field of a head. */
interface ContentType {
  /** Position among the fields. */
  field: number;
  type: string;
  boundary: string | undefined;
}

/**
 * Removes needless Content-Type fields from a message and its parts (RFC 2045 allows one). The field whose boundary the body uses
 * stays; without one, the first field that is no multipart. mailsplit would take the first field and mailparser the last one.
 */
export class SingleContentTypes extends Transform {
  private pending: Buffer = Buffer.alloc(0);
  private inHead = true;
  /** In a body: `pending` begins with a line. */
  private isLineStart = false;
  /** A head with several fields, while its body is examined. */
  private undecided: { fields: string[]; types: ContentType[] } | undefined;
  private readonly boundaries = new Set<string>();

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    this.advance(false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.advance(true);
    if (this.pending.length > 0) this.push(this.pending);
    done();
  }

  private advance(isEnd: boolean): void {
    for (let isMore = true; isMore;) {
      if (this.undecided) isMore = this.decide(this.undecided, isEnd);
      else isMore = this.inHead ? this.readHead(isEnd) : this.readBody(isEnd);
    }
  }

  /** Forwards the first bytes of `pending`. */
  private forward(length: number): void {
    if (length > 0) this.push(this.pending.subarray(0, length));
    this.pending = this.pending.subarray(length);
  }

  private readHead(isEnd: boolean): boolean {
    const end = endOfHead(this.pending);
    if (end < 0) {
      if (!isEnd && this.pending.length <= MAX_HEAD) return false;
      this.inHead = false;
      return !isEnd;
    }
    const fields = fieldsOf(this.pending.subarray(0, end).toString('latin1'));
    const types = fields.flatMap((text, field) => contentTypeOf(text, field) ?? []);
    this.inHead = false;
    this.isLineStart = true;
    if (types.length > 1) {
      this.pending = this.pending.subarray(end);
      this.undecided = { fields, types };
      return true;
    }
    if (types[0]?.boundary !== undefined) this.boundaries.add(types[0].boundary);
    this.forward(end);
    return true;
  }

  private decide({ fields, types }: { fields: string[]; types: ContentType[] }, isEnd: boolean): boolean {
    const candidates = new Map(
      types.flatMap((type) => (type.boundary === undefined ? [] : [[type.boundary, type] as const])),
    );
    let used: ContentType | undefined;
    for (const line of this.pending.subarray(0, EXAMINED).toString('latin1').split('\n')) {
      const name = boundaryOf(line);
      used = candidates.get(name) ?? candidates.get(name.replace(/--$/, ''));
      if (used) break;
    }
    if (!used && !isEnd && this.pending.length < EXAMINED) return false;
    const chosen = used ?? types.find(({ type }) => !type.startsWith('multipart/')) ?? types[0];
    const others = new Set(types.filter((type) => type !== chosen).map(({ field }) => field));
    this.push(Buffer.from(fields.filter((_, n) => !others.has(n)).join(''), 'latin1'));
    if (chosen?.boundary !== undefined) this.boundaries.add(chosen.boundary);
    this.undecided = undefined;
    return true;
  }

  /** Forwards the body up to the head of the next part. */
  private readBody(isEnd: boolean): boolean {
    const { pending } = this;
    if (this.boundaries.size > 0) {
      if (this.isLineStart && pending.length < 2 && !isEnd) return false;
      for (
        let at = this.isLineStart ? 0 : lineWithDashes(pending, 0);
        at >= 0;
        at = lineWithDashes(pending, at)
      ) {
        const end = pending.indexOf(LF, at);
        if (end < 0 && !isEnd && pending.length - at <= MAX_BOUNDARY_LINE) {
          this.forward(at);
          this.isLineStart = true;
          return false;
        }
        if (end < 0 || end - at > MAX_BOUNDARY_LINE) continue;
        if (this.boundaries.has(boundaryOf(pending.toString('latin1', at, end)))) {
          this.forward(end + 1);
          this.inHead = true;
          return true;
        }
      }
    }
    // The line end before a line that may be a boundary stays.
    const kept = isEnd ? -1 : pending.subarray(-2).lastIndexOf(LF);
    this.forward(kept < 0 ? pending.length : pending.length - Math.min(2, pending.length) + kept);
    this.isLineStart = false;
    return false;
  }
}

/** The position of the next line after `from` that begins with `--`, or -1. */
function lineWithDashes(bytes: Buffer, from: number): number {
  const at = bytes.indexOf('\n--', from, 'latin1');
  return at < 0 ? -1 : at + 1;
}

/** The boundary that a line names; empty for any other line. */
const boundaryOf = (line: string): string => (line.startsWith('--') ? line.slice(2).trimEnd() : '');

/** @returns the position after the empty line, or of a boundary within the head; -1 if the head has not ended */
function endOfHead(bytes: Buffer): number {
  for (let at = 0; ;) {
    const end = bytes.indexOf(LF, at);
    if (end < 0) return -1;
    if (end === at || (end === at + 1 && bytes[at] === CR)) return end + 1;
    if (bytes[at] === DASH && bytes[at + 1] === DASH) return at;
    at = end + 1;
  }
}

/** The fields of a head with their line ends; folded lines belong to their field. */
const fieldsOf = (head: string): string[] => head.split(/(?<=\n)(?![ \t])/);

function contentTypeOf(text: string, field: number): ContentType | undefined {
  const match = /^content-type[ \t]*:\s*([^\s;]*)/i.exec(text);
  if (!match) return undefined;
  const type = (match[1] ?? '').toLowerCase();
  const [, quoted, plain] = BOUNDARY.exec(text) ?? [];
  const boundary = type.startsWith('multipart/') ? (quoted?.replace(/\\(.)/g, '$1') ?? plain) : undefined;
  return { field, type, boundary };
}
