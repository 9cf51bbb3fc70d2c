import type MimeNode from 'nodemailer/lib/mime-node';

/** Bytes of UTF-8 whose encoded word has at most 75 characters (RFC 2047 2). */
const MAX_BYTES = 45;

/**
 * Text that looks like an encoded word as encoded words, other text as it is: receivers would decode the word, which nodemailer sends
 * unchanged (RFC 2047 5).
 */
export function encodeLookalikes(text: string): string {
  if (!text.includes('=?')) return text;
  const words: string[] = [];
  let chunk = '';
  let size = 0;
  for (const character of text.toWellFormed()) {
    const length = Buffer.byteLength(character);
    if (size + length > MAX_BYTES) {
      words.push(chunk);
      [chunk, size] = ['', 0];
    }
    chunk += character;
    size += length;
  }
  words.push(chunk);
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ');
}

/** Encodes such names of addresses too, also against receivers that decode words within quotes, as this parser does. */
export function protectNames(node: MimeNode): void {
  const own = node as unknown as { _encodeAddressName(name: string): string };
  const encode = own._encodeAddressName.bind(node);
  own._encodeAddressName = (name) => (name.includes('=?') ? encodeLookalikes(name) : encode(name));
}
