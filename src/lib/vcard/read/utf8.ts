import { TextDecoder } from 'node:util';

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

/** The chunks without a byte order mark, UTF-16 as UTF-8, lines ending with LF. Other bytes stay as they are. */
export async function* utf8(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
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
      yield recode(form, start.subarray(form.mark));
    }
  }
  if (!form) {
    form = formOf(start);
    yield recode(form, start.subarray(form.mark));
  }
  if (form.decoder) yield Buffer.from(form.decoder.decode());
}

function formOf(start: Buffer): Form {
  const carriageReturns = start.includes(13) && !start.includes(10);
  const decoded = (label: string, mark: number): Form => ({
    mark,
    decoder: new TextDecoder(label),
    carriageReturns,
  });
  const hex = start.toString('hex', 0, 3);
  if (hex.startsWith('fffe')) return decoded('utf-16le', 2);
  if (hex.startsWith('feff')) return decoded('utf-16be', 2);
  // "B" of BEGIN without a mark.
  if (hex.startsWith('4200')) return decoded('utf-16le', 0);
  if (hex.startsWith('0042')) return decoded('utf-16be', 0);
  return { mark: hex === 'efbbbf' ? 3 : 0, decoder: null, carriageReturns };
}

function recode({ decoder, carriageReturns }: Form, bytes: Buffer): Buffer {
  const recoded = decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes;
  return carriageReturns ? Buffer.from(recoded.map((byte) => (byte === 13 ? 10 : byte))) : recoded;
}
